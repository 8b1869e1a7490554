"""A test client for any transport and handshake revision. It validates all messages by the official types."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from mcp_types.methods import parse_server_notification, parse_server_request, validate_server_result

from assay.revisions.revision import Revision
from assay.server.server import Server
from tests.driving.answer import PATIENCE
from tests.driving.asgi import AsgiPeer
from tests.driving.links import HttpLink, Link, MemoryLink, PipeLink, SocketLink
from tests.driving.messages import initialize, notification, request

TRANSPORTS = ("memory", "stdio", "http", "http-plain", "websocket")
SESSIONED = ("memory", "stdio", "http", "websocket")
"""Transports on which a server can send messages outside of requests."""


class Client:
    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.messages: list[dict[str, Any]] = []
        """Everything that the server sent, in order of arrival."""
        self.own_methods: set[str] = set()
        """Custom methods of the server, whose results the official types do not cover."""
        self.link: Link
        self._methods: dict[Any, str] = {}
        self._changed = asyncio.Event()
        self._read = 0

    def take(self, message: Any) -> None:
        self.messages.extend(message if isinstance(message, list) else [message])
        self._changed.set()

    async def until(self, find: Callable[[], Any]) -> Any:
        """Wait for the first value that is not None."""
        async with asyncio.timeout(PATIENCE):
            while (value := find()) is None:
                self._changed.clear()
                await self._changed.wait()
        return value

    async def begin(self, method: str, params: Any = None, request_id: Any = None) -> Any:
        """Send a request without waiting for its answer; returns its id."""
        request_id = f"{len(self._methods)}:{method}" if request_id is None else request_id
        self._methods[request_id] = method
        await self.link.send(request(method, params, request_id))
        return request_id

    async def answer(self, request_id: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await self.until(lambda: next(iter(self.answers(request_id)), None))
        return answer

    def answers(self, request_id: Any) -> list[dict[str, Any]]:
        return [each for each in self.messages if each.get("id") == request_id and "method" not in each]

    async def result(self, method: str, params: Any = None) -> Any:
        answer = await self.answer(await self.begin(method, params))
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: Any = None) -> dict[str, Any]:
        answer = await self.answer(await self.begin(method, params))
        assert "error" in answer, answer
        error: dict[str, Any] = answer["error"]
        return error

    async def call(self, name: str, /, **arguments: Any) -> Any:
        return await self.result("tools/call", {"name": name, "arguments": arguments})

    async def notify(self, method: str, params: Any = None) -> None:
        await self.link.send(notification(method, params))

    async def respond(self, question: dict[str, Any], **body: Any) -> None:
        await self.link.send({"jsonrpc": "2.0", "id": question["id"], **body})

    def of(self, method: str) -> list[dict[str, Any]]:
        """The messages of this method so far."""
        return [each for each in self.messages if each.get("method") == method]

    async def received(self, method: str, count: int = 1) -> dict[str, Any]:
        """Wait for so many messages of a method, and return the last of them."""
        messages: list[dict[str, Any]] = await self.until(
            lambda: messages if len(messages := self.of(method)) >= count else None
        )
        return messages[count - 1]

    async def shake_hands(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        opening = initialize(self.revision, capabilities)
        self._methods[opening["id"]] = "initialize"
        await self.link.send(opening)
        result: dict[str, Any] = (await self.answer(opening["id"]))["result"]
        assert result["protocolVersion"] == self.revision.date
        if isinstance(self.link, HttpLink):
            self.link.peer.version = self.revision.date
        await self.notify("notifications/initialized")
        return result

    def judge(self) -> None:
        """Validate every received message against the official types of this revision."""
        for message in self.messages:
            assert message["jsonrpc"] == "2.0"
            if "result" in message and self._methods[message["id"]] in self.own_methods:
                continue
            if "result" in message:
                validate_server_result(self._methods[message["id"]], self.revision.date, message["result"])
            elif "error" in message:
                assert isinstance(message["error"]["code"], int)
                assert isinstance(message["error"]["message"], str)
            elif "id" in message:
                parse_server_request(message["method"], self.revision.date, message.get("params"))
            else:
                parse_server_notification(message["method"], self.revision.date, message.get("params"))


@contextlib.asynccontextmanager
async def connect(
    server: Server,
    transport: str,
    revision: Revision,
    *,
    capabilities: dict[str, Any] | None = None,
    handshake: bool = True,
    listen: bool = False,
) -> AsyncIterator[Client]:
    """Connect a client to a server in this process. All messages are validated in the end."""
    client = Client(revision)
    client.link = await open_link(server, transport, client)
    try:
        if handshake:
            await client.shake_hands(capabilities)
        if listen:
            await client.link.listen()
        yield client
    finally:
        await client.link.close()
    client.judge()


async def open_link(server: Server, transport: str, client: Client) -> Link:
    if transport == "memory":
        return MemoryLink(server, client.take)
    if transport == "stdio":
        return await PipeLink.open(server, client.take)
    if transport == "websocket":
        return await SocketLink.open(server, client.take)
    stream = "off" if transport == "http-plain" else "on"
    return HttpLink(AsgiPeer(server.asgi(stream=stream)), client.take)
