"""What belongs to one principal does not exist for another."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from assay import Context
from assay.auth import Auth
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.auth.issuer import RESOURCE, Issuer
from tests.driving.answer import Answer
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import accepted, answering, describe, mirrors
from tests.driving.messages import call, request
from tests.transport.subject import Subject

UNKNOWN = "nobody-ever-had-this-session"
resuming = [revision for revision in HANDSHAKE if revision.http.resumable]


class Guarded(Subject):
    def __init__(self, **options: Any) -> None:
        self.issuer = Issuer()
        self.issuer.url = "https://as.example"
        auth = Auth(issuer=self.issuer.url, audience=RESOURCE, jwks={"keys": self.issuer.keys}, **options)
        super().__init__(auth=auth)
        self.server.tool(self.talk)
        self.server.tool(self.greet)
        self.app = self.server.asgi()

    async def talk(self, ctx: Context) -> str:
        await ctx.log("info", "first")
        await self.release.wait()
        return "last"

    async def greet(self, ctx: Context) -> str:
        answer = await ctx.elicit(
            "who?", {"type": "object", "properties": {"name": {"type": "string"}}}, key="who"
        )
        return f"Hello, {answer.content['name']}"

    def as_user(self, name: str) -> Holder:
        return Holder(self.app, self.issuer, name)


class Holder(AsgiPeer):
    """Sends a new token with each request."""

    def __init__(self, app: Any, issuer: Issuer, name: str) -> None:
        super().__init__(app)
        self._issuer = issuer
        self._name = name
        self._number = 0
        self.lifetime = 300.0
        """Lifetime of the next tokens, in seconds."""

    def _headers(self, method: str, changed: dict[str, str | None]) -> dict[str, str]:
        self._number += 1
        token = self._issuer.mint(sub=self._name, jti=str(self._number), exp=time.time() + self.lifetime)
        return {**super()._headers(method, changed), "authorization": f"Bearer {token}"}

    async def describing(self, method: str, params: Any) -> Answer:
        message = describe(method, params, capabilities={"elicitation": {"form": {}}})
        return await self.post(message, headers=mirrors(message))


def facts(answer: Answer) -> tuple[int, bytes, set[str]]:
    return answer.status, answer.body, set(answer.headers)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_a_session_of_another_principal_does_not_exist(revision: Revision) -> None:
    subject = Guarded()
    async with await subject.as_user("ann").shake_hands(revision) as ann, subject.as_user("bob") as bob:
        bob.version = ann.version
        for method, body in (("POST", request("ping")), ("GET", b""), ("DELETE", b"")):
            bob.session = ann.session
            theirs = await bob.send(method, body=body)
            bob.session = UNKNOWN
            assert facts(theirs) == facts(await bob.send(method, body=body))
            assert theirs.status == 404
        assert (await ann.post(request("ping"))).status == 200


@pytest.mark.parametrize("revision", resuming, ids=str)
async def test_a_stream_of_another_principal_cannot_be_resumed(revision: Revision) -> None:
    subject = Guarded()
    async with await subject.as_user("ann").shake_hands(revision) as ann, subject.as_user("bob") as bob:
        stream = ann.begin("POST", call("talk"))
        await stream.message()
        stream.leave()
        last = {"last-event-id": stream.sse.last_event_id}
        bob.session, bob.version = ann.session, ann.version
        theirs = await bob.send("GET", headers=last)
        bob.session = UNKNOWN
        assert facts(theirs) == facts(await bob.send("GET", headers=last))
        subject.release.set()
        (end,) = await ann.begin("GET", headers=last).messages()
        assert end["result"]["content"][0]["text"] == "last"


async def test_a_principal_may_continue_with_another_token() -> None:
    subject = Guarded()
    async with (
        await subject.as_user("ann").shake_hands(HANDSHAKE[-1]) as first,
        subject.as_user("ann") as second,
    ):
        second.session, second.version = first.session, first.version
        assert (await second.post(request("ping"))).status == 200


async def test_another_principal_cannot_cancel_in_a_session() -> None:
    subject = Guarded()
    async with await subject.as_user("ann").shake_hands(HANDSHAKE[-1]) as ann, subject.as_user("bob") as bob:
        held = ann.begin("POST", call("hold", "mine"))
        async with asyncio.timeout(5):
            await subject.started.wait()
        bob.session, bob.version = ann.session, ann.version
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}}
        assert (await bob.post(notice)).status == 404
        subject.release.set()
        assert (await held.complete()).json["result"]["content"][0]["text"] == "released"


async def test_request_state_of_another_principal_is_refused() -> None:
    subject = Guarded()
    async with subject.as_user("ann") as ann, subject.as_user("bob") as bob:
        introspected = (await ann.describing("tools/call", {"name": "greet", "arguments": {}})).json["result"]
        again = {"name": "greet", "arguments": {}, **answering(introspected, who=accepted(name="Ada"))}
        refused = await bob.describing("tools/call", again)
        assert refused.json["error"]["code"] == -32602
        done = (await ann.describing("tools/call", again)).json["result"]
        assert done["content"][0]["text"] == "Hello, Ada"


async def test_open_streams_end_when_the_token_expires() -> None:
    subject = Guarded(leeway=0)
    async with await subject.as_user("ann").shake_hands(HANDSHAKE[-1]) as ann:
        ann.lifetime = 0.3
        following = ann.begin("GET")
        message = describe("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s")
        alone: dict[str, str | None] = {"mcp-session-id": None, **mirrors(message)}
        listening = ann.begin("POST", message, headers=alone)
        assert await following.messages() == []
        first, last = await listening.messages()
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert last["result"]["resultType"] == "complete"
        ann.lifetime = 300
        assert (await ann.post(request("ping"))).status == 200
