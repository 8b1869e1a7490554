"""Stored state belongs to its principal: for others, it does not exist.

Principals are set by a plain ASGI middleware, as in any host.
"""

from __future__ import annotations

from typing import Any

import pytest

from assay import Context, Scope
from assay.model.error import INVALID_PARAMS
from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import ASKABLE, describe, mirrors
from tests.driving.messages import call, initialize, notification, request
from tests.driving.websocket import AsgiSocket
from tests.server.scripted import quiescence, reached
from tests.transport.subject import WATCHED, Subject

NEWEST = HANDSHAKE[-1]
OTHERS = pytest.mark.parametrize("other", ["bob", None], ids=["another", "anonymous"])


class ByHeader:
    """Sets the principal from a header, without authentication."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        user = dict(scope["headers"]).get(b"x-user")
        principal = None if user is None else user.decode()
        await self._app({**scope, "assay": Scope(principal=principal)}, receive, send)


class User(AsgiPeer):
    def __init__(self, app: Any, name: str | None) -> None:
        super().__init__(app)
        self._name = name

    def _headers(self, method: str, changed: dict[str, str | None]) -> dict[str, str]:
        return super()._headers(method, {"x-user": self._name, **changed})


class OwnedSubject(Subject):
    """A server, its application behind the middleware, and a session of ann."""

    def __init__(self) -> None:
        super().__init__()
        self.server.tool(self.remember)
        self.app = ByHeader(self.server.asgi())

    async def remember(self, ctx: Context) -> str:
        ctx.session["visits"] = ctx.session.get("visits", 0) + 1
        return f"{ctx.principal} {ctx.session['visits']}"

    async def ann(self, **capabilities: Any) -> User:
        client = User(self.app, "ann")
        await client.shake_hands(NEWEST, **capabilities)
        return client

    def thief(self, name: str | None, owner: User) -> User:
        """Another principal, with the session id of the owner."""
        thief = User(self.app, name)
        thief.session, thief.version = owner.session, owner.version
        return thief


def text_of(answer: Any) -> str:
    text: str = answer.json["result"]["content"][0]["text"]
    return text


@OTHERS
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_a_stolen_session_is_not_found(method: str, other: str | None) -> None:
    subject = OwnedSubject()
    async with await subject.ann() as ann, subject.thief(other, ann) as thief:
        body = request("ping") if method == "POST" else b""
        stolen = await thief.begin(method, body).complete()
        thief.session = "A" * len(ann.session or "")
        invented = await thief.begin(method, body).complete()
        assert (stolen.status, stolen.body) == (invented.status, invented.body)
        assert stolen.status == 404
        assert (await ann.post(request("ping"))).status == 200


@OTHERS
async def test_a_stream_is_not_resumed_by_another_principal(other: str | None) -> None:
    subject = OwnedSubject()
    async with await subject.ann() as ann, subject.thief(other, ann) as thief:
        await ann.post(request("resources/subscribe", {"uri": WATCHED}))
        await ann.call("touch")
        stream = ann.begin("GET")
        assert (await stream.message())["method"] == "notifications/resources/updated"
        for last in ("0-0", "1-0"):
            assert (await thief.begin("GET", headers={"last-event-id": last}).complete()).status == 404


@OTHERS
async def test_a_call_is_not_cancelled_by_another_principal(other: str | None) -> None:
    subject = OwnedSubject()
    async with await subject.ann() as ann, subject.thief(other, ann) as thief:
        running = ann.begin("POST", call("hold", "mine"))
        await reached(subject.started)
        cancel = notification("notifications/cancelled", {"requestId": "mine"})
        assert (await thief.post(cancel)).status == 404
        thief.session = None
        await thief.shake_hands(NEWEST)
        assert (await thief.post(cancel)).status == 202
        subject.release.set()
        assert (await running.complete()).json["result"]["content"][0]["text"] == "released"


@OTHERS
async def test_a_question_is_not_answered_by_another_principal(other: str | None) -> None:
    subject = OwnedSubject()
    async with await subject.ann(elicitation={}) as ann, subject.thief(other, ann) as thief:
        running = ann.begin("POST", call("elicit"))
        question = await running.message()

        def answer(name: str) -> Any:
            result = {"action": "accept", "content": {"name": name}}
            return {"jsonrpc": "2.0", "id": question["id"], "result": result}

        assert (await thief.post(answer("thief"))).status == 404
        thief.session = None
        await thief.shake_hands(NEWEST)
        assert (await thief.post(answer("thief"))).status == 400
        assert (await ann.post(answer("ann"))).status == 202
        await running.complete()
        assert subject.answered.content == {"name": "ann"}


async def test_changes_are_sent_to_subscribers_only() -> None:
    subject = OwnedSubject()
    async with await subject.ann() as ann, User(subject.app, "bob") as bob:
        await bob.shake_hands(NEWEST)
        await ann.post(request("resources/subscribe", {"uri": WATCHED}))
        hers, his = ann.begin("GET"), bob.begin("GET")
        await hers.started()
        await his.started()
        await bob.call("touch")
        assert (await hers.message())["params"] == {"uri": WATCHED}
        await quiescence()
        await bob.send("DELETE")
        assert await his.messages() == []


async def test_state_of_handlers_belongs_to_the_principal() -> None:
    """With a session, state belongs to the session, which has one principal; otherwise to the principal."""
    subject = OwnedSubject()
    alone = describe("tools/call", {"name": "remember", "arguments": {}})
    async with (
        User(subject.app, "ann") as ann,
        User(subject.app, "bob") as bob,
        User(subject.app, None) as anonymous,
    ):
        texts = [
            text_of(await user.post(alone, headers=mirrors(alone)))
            for user in (ann, bob, anonymous, ann, anonymous)
        ]
        assert texts == ["ann 1", "bob 1", "None 1", "ann 2", "None 2"]


@OTHERS
async def test_request_state_is_refused_from_another_principal(other: str | None) -> None:
    subject = OwnedSubject()
    async with User(subject.app, "ann") as ann, User(subject.app, other) as thief:
        params: dict[str, Any] = {"name": "elicit", "arguments": {}}
        first = describe("tools/call", params, capabilities=ASKABLE)
        questions = (await ann.post(first, headers=mirrors(first))).json["result"]
        (key,) = questions["inputRequests"]
        params["requestState"] = questions["requestState"]
        params["inputResponses"] = {key: {"action": "accept", "content": {"name": "x"}}}
        again = describe("tools/call", params, capabilities=ASKABLE)
        refused = (await thief.post(again, headers=mirrors(again))).json
        assert refused["error"]["code"] == INVALID_PARAMS
        assert subject.answered is None
        assert text_of(await ann.post(again, headers=mirrors(again))) == "accept"


async def test_a_listen_stream_ends_only_for_its_client() -> None:
    """Two clients may use the same id for their streams."""
    subject = OwnedSubject()
    params = {"notifications": {"resourceSubscriptions": [WATCHED]}}
    message = describe("subscriptions/listen", params)
    async with User(subject.app, "ann") as ann, User(subject.app, "bob") as bob:
        hers, his = (user.begin("POST", message, headers=mirrors(message)) for user in (ann, bob))
        for stream in (hers, his):
            assert (await stream.message())["method"] == "notifications/subscriptions/acknowledged"
        cancel = notification("notifications/cancelled", {"requestId": message["id"]})
        await bob.post(cancel, headers={"mcp-protocol-version": None})
        his.leave()
        await quiescence()
        subject.server.resource_updated(WATCHED)
        assert (await hers.message())["params"]["uri"] == WATCHED
        subject.server.end_listening()


async def test_websocket_connections_share_no_state() -> None:
    subject = OwnedSubject()

    def socket(name: str) -> AsgiSocket:
        return AsgiSocket(subject.app, headers={"x-user": name})

    async with socket("ann") as ann, socket("bob") as bob:
        for link in (ann, bob):
            await link.ask(initialize(NEWEST))
            await link.send(notification("notifications/initialized"))
        await ann.send(call("hold", "mine"))
        await reached(subject.started)
        await bob.send(notification("notifications/cancelled", {"requestId": "mine"}))
        replies = [await bob.ask(call("remember", number)) for number in (1, 2)]
        assert [answer["result"]["content"][0]["text"] for answer in replies] == ["bob 1", "bob 2"]
        subject.release.set()
        assert (await ann.receive())["result"]["content"][0]["text"] == "released"
        assert (await ann.ask(call("remember")))["result"]["content"][0]["text"] == "ann 1"


async def test_an_http_session_is_not_usable_on_a_websocket() -> None:
    subject = OwnedSubject()
    async with await subject.ann() as ann:
        await ann.call("remember")
        headers = {"x-user": "ann", "mcp-session-id": ann.session or ""}
        async with AsgiSocket(subject.app, headers=headers) as link:
            await link.ask(initialize(NEWEST))
            await link.send(notification("notifications/initialized"))
            assert (await link.ask(call("remember")))["result"]["content"][0]["text"] == "ann 1"
