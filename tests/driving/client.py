"""A small client for tests: any transport, any handshake revision, and the official types as its judge."""

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
"""Transports on which a server can speak without being asked."""


class Client:
    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.seen: list[dict[str, Any]] = []
        """Everything that came from the server, in order of arrival."""
        self.own_methods: set[str] = set()
        """Methods that the server adds to the protocol's: the official types do not know their results."""
        self.link: Link
        self._methods: dict[Any, str] = {}
        self._changed = asyncio.Event()
        self._read = 0

    def take(self, message: Any) -> None:
        self.seen.extend(message if isinstance(message, list) else [message])
        self._changed.set()

    async def until(self, find: Callable[[], Any]) -> Any:
        """Wait for the first value that is not None."""
        async with asyncio.timeout(PATIENCE):
            while (found := find()) is None:
                self._changed.clear()
                await self._changed.wait()
        return found

    async def begin(self, method: str, params: Any = None, request_id: Any = None) -> Any:
        """Send a request without waiting for its answer; returns its id."""
        request_id = f"{len(self._methods)}:{method}" if request_id is None else request_id
        self._methods[request_id] = method
        await self.link.send(request(method, params, request_id))
        return request_id

    async def answer(self, request_id: Any) -> dict[str, Any]:
        found: dict[str, Any] = await self.until(lambda: next(iter(self.answers(request_id)), None))
        return found

    def answers(self, request_id: Any) -> list[dict[str, Any]]:
        return [seen for seen in self.seen if seen.get("id") == request_id and "method" not in seen]

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

    async def respond(self, asked: dict[str, Any], **body: Any) -> None:
        await self.link.send({"jsonrpc": "2.0", "id": asked["id"], **body})

    def of(self, method: str) -> list[dict[str, Any]]:
        """What has come of this method so far."""
        return [seen for seen in self.seen if seen.get("method") == method]

    async def received(self, method: str, count: int = 1) -> dict[str, Any]:
        """Wait until so many messages of a method have come; the last of these."""
        found: list[dict[str, Any]] = await self.until(
            lambda: found if len(found := self.of(method)) >= count else None
        )
        return found[count - 1]

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
        """Check every message that came against the official types of this revision."""
        for seen in self.seen:
            assert seen["jsonrpc"] == "2.0"
            if "result" in seen and self._methods[seen["id"]] in self.own_methods:
                continue
            if "result" in seen:
                validate_server_result(self._methods[seen["id"]], self.revision.date, seen["result"])
            elif "error" in seen:
                assert isinstance(seen["error"]["code"], int)
                assert isinstance(seen["error"]["message"], str)
            elif "id" in seen:
                parse_server_request(seen["method"], self.revision.date, seen.get("params"))
            else:
                parse_server_notification(seen["method"], self.revision.date, seen.get("params"))


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
    """A client of this server in this process; in the end everything it received is judged."""
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
