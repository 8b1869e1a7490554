"""One server asks clients of every revision on every transport, with the same outcome.

One client answers requests of the server, the other retries its own request.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any, Protocol

import pytest
from mcp_types.methods import validate_server_result

from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Asking, Revision
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import ASKABLE, describe, mirrors, sampled
from tests.driving.messages import initialize, notification, request
from tests.driving.process import StdioProcess, http_process, stdio_process
from tests.driving.sockets import SocketPeer
from tests.driving.websocket import AsgiSocket
from tests.transport import travel

SERVED = [revision for revision in REVISIONS if "form" in revision.elicitation]
PROGRAM = "tests/transport/travel.py"
HTTP_PROGRAM = """
from tests.transport.travel import server
server.run("http", port=0, announce=lambda url: print(url, flush=True))
"""


class User:
    """The user and the model of a client; records their questions."""

    def __init__(self, *, declines: str | None = None) -> None:
        self.questions: list[str] = []
        self._declines = declines

    def answer(self, method: str, params: Any) -> Any:
        if method == "sampling/createMessage":
            content = params["messages"][0]["content"]
            self.questions.append(content["text"])
            return sampled("Bon voyage!")
        self.questions.append(params["message"])
        if self._declines is not None and self._declines in params["message"]:
            return {"action": "decline"}
        fields = params["requestedSchema"]["properties"]
        content = {"name": "Ada", "children": 2, "agreed": True}
        return {"action": "accept", "content": {name: content[name] for name in fields}}


class Wire(Protocol):
    """Sends one message, and yields the messages that answer it."""

    def exchange(self, message: Any) -> AsyncIterator[Any]: ...

    async def send(self, message: Any) -> None: ...


class DuplexWire:
    """Pipes or a WebSocket, where all messages arrive on one channel."""

    def __init__(self, end: StdioProcess | AsgiSocket) -> None:
        self._end = end

    async def exchange(self, message: Any) -> AsyncIterator[Any]:
        await self._end.send(message)
        while True:
            yield await self._end.receive()

    async def send(self, message: Any) -> None:
        await self._end.send(message)


class HttpWire:
    def __init__(self, peer: AsgiPeer | SocketPeer, revision: Revision) -> None:
        self._peer = peer
        self._described = not revision.http.sessions

    def _headers(self, message: Any) -> dict[str, Any]:
        return mirrors(message) if self._described else {}

    async def exchange(self, message: Any) -> AsyncIterator[Any]:
        answer = self._peer.begin("POST", message, headers=self._headers(message))
        await answer.started()
        self._peer.session = answer.headers.get("mcp-session-id", self._peer.session)
        if answer.is_stream:
            while (message := await answer.message()) is not None:
                yield message
        else:
            yield (await answer.complete()).json

    async def send(self, message: Any) -> None:
        assert (await self._peer.post(message)).status == 202


class Client:
    """Gets results, and answers questions on the way."""

    def __init__(self, wire: Wire, revision: Revision, user: User) -> None:
        self._wire = wire
        self._revision = revision
        self._user = user
        self._last_id = 0

    async def open(self) -> Client:
        if self._revision.asking is Asking.BY_REQUEST:
            capabilities = {"elicitation": {}, "sampling": {}}
            async with contextlib.aclosing(
                self._wire.exchange(initialize(self._revision, capabilities))
            ) as got:
                opened = await anext(got)
            assert opened["result"]["protocolVersion"] == self._revision.date
            await self._wire.send(notification("notifications/initialized"))
        return self

    async def result(self, method: str, **params: Any) -> Any:
        if self._revision.asking is Asking.BY_REQUEST:
            result = await self._answering(method, params)
        else:
            result = await self._retrying(method, params)
        validate_server_result(method, self._revision.date, result)
        return result

    async def _answering(self, method: str, params: Any) -> Any:
        self._last_id += 1
        async with contextlib.aclosing(
            self._wire.exchange(request(method, params, self._last_id))
        ) as messages:
            async for message in messages:
                if "method" not in message:
                    assert message["id"] == self._last_id
                    return message["result"]
                answer = self._user.answer(message["method"], message["params"])
                await self._wire.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        raise AssertionError("no answer")

    async def _retrying(self, method: str, params: Any) -> Any:
        again: dict[str, Any] = {}
        while True:
            self._last_id += 1
            message = describe(method, params | again, self._last_id, capabilities=ASKABLE)
            async with contextlib.aclosing(self._wire.exchange(message)) as messages:
                result = (await anext(messages))["result"]
            if result["resultType"] == "complete":
                return result
            answers = {
                key: self._user.answer(question["method"], question["params"])
                for key, question in result["inputRequests"].items()
            }
            again = {"inputResponses": answers, "requestState": result["requestState"]}


@contextlib.asynccontextmanager
async def connected(transport: str, revision: Revision, user: User) -> AsyncIterator[Client]:
    if transport == "stdio":
        async with stdio_process(PROGRAM) as process:
            yield await Client(DuplexWire(process), revision, user).open()
    elif transport == "websocket":
        travel.booked.clear()
        async with AsgiSocket(travel.server.asgi()) as socket:
            yield await Client(DuplexWire(socket), revision, user).open()
    elif transport == "http process":
        async with http_process("-c", HTTP_PROGRAM) as url, SocketPeer(url) as peer:
            yield await Client(HttpWire(peer, revision), revision, user).open()
    else:
        travel.booked.clear()
        async with AsgiPeer(travel.server.asgi()) as peer:
            yield await Client(HttpWire(peer, revision), revision, user).open()


everywhere = pytest.mark.parametrize("transport", ["stdio", "http", "http process", "websocket"])
by_revision = pytest.mark.parametrize("revision", SERVED, ids=str)


@everywhere
@by_revision
async def test_tool_with_two_forms_and_a_sample(transport: str, revision: Revision) -> None:
    user = User()
    async with connected(transport, revision, user) as client:
        result = await client.result("tools/call", name="book", arguments={"city": "Oslo"})
        reservations = await client.result("tools/call", name="count_reservations", arguments={})
    assert result["content"] == [{"type": "text", "text": "Bon voyage! Oslo-1 for Ada and 2 children"}]
    assert user.questions == ["Who travels to Oslo?", "Greet Ada in Oslo", "Book Oslo-1?"]
    assert reservations["content"][0]["text"] in ("1", '{"result":1}')


@everywhere
@by_revision
async def test_prompt_with_a_question(transport: str, revision: Revision) -> None:
    user = User()
    async with connected(transport, revision, user) as client:
        result = await client.result("prompts/get", name="itinerary", arguments={"city": "Oslo"})
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": "Plan Oslo for Ada"}}]
    assert user.questions == ["Which person is it for?"]


@everywhere
@by_revision
async def test_resource_with_a_question(transport: str, revision: Revision) -> None:
    user = User()
    async with connected(transport, revision, user) as client:
        result = await client.result("resources/read", uri="diary://Oslo")
    assert result["contents"] == [{"uri": "diary://Oslo", "mimeType": "text/plain", "text": "Oslo: sun"}]
    assert user.questions == ["Open the diary of Oslo?"]


@by_revision
@pytest.mark.parametrize(
    ("declined", "text", "failed"),
    [("Who travels", "no travellers", True), ("Book", "Oslo-1 not booked", False)],
)
@pytest.mark.parametrize("transport", ["stdio", "http", "websocket"])
async def test_user_who_declines(
    transport: str, revision: Revision, declined: str, text: str, failed: bool
) -> None:
    async with connected(transport, revision, User(declines=declined)) as client:
        result = await client.result("tools/call", name="book", arguments={"city": "Oslo"})
    assert (result["content"][0]["text"], result.get("isError", False)) == (text, failed)


def test_revisions_from_both_sides_of_the_handshake_are_covered() -> None:
    assert {revision.asking for revision in SERVED} == {*Asking}
    assert len(SERVED) >= 3
