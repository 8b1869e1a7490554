"""A WebSocket client for an ASGI application in this process, without sockets."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any, Self

from assay.protocol.http.asgi import Message
from assay.protocol.scope import Scope
from tests.driving.answer import PATIENCE


class Closed(Exception):
    """The server closed or refused the connection."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class AsgiSocket:
    """Runs the application for one connection."""

    def __init__(
        self,
        app: Any,
        *,
        path: str = "/mcp/ws",
        headers: dict[str, str] | None = None,
        subprotocols: tuple[str, ...] = ("mcp",),
        principal: Any = None,
        **scope: Any,
    ) -> None:
        sent = {"host": "localhost:3000", **(headers or {})}
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "path": path,
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "subprotocols": list(subprotocols),
            "extensions": {"websocket.http.response": {}},
            **({} if principal is None else {"assay": Scope(principal=principal)}),
            **scope,
        }
        self.reads = asyncio.Event()
        """While this is not set, the client reads nothing, and the server's writes block."""
        self.reads.set()
        self.subprotocol: str | None = None
        self.status = 0
        """The status of the HTTP response that refused the connection."""
        self.body = b""
        self._left = False
        self._to_server: asyncio.Queue[Message] = asyncio.Queue()
        self._from_server: asyncio.Queue[Message] = asyncio.Queue()
        self._to_server.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.get_running_loop().create_task(app(self.scope, self._receive, self._send))

    async def __aenter__(self) -> Self:
        """
        Raises:
            Closed: it was refused; see `status` and `body`.
        """
        first = await self._next()
        if first["type"] == "websocket.http.response.start":
            self.status, self.body = first["status"], (await self._next())["body"]
        if first["type"] != "websocket.accept":
            await self.__aexit__(None, None, None)
            raise Closed(first.get("code", 0), first.get("reason", ""))
        self.subprotocol = first["subprotocol"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
        async with asyncio.timeout(PATIENCE):
            await self.task

    async def _receive(self) -> Message:
        return await self._to_server.get()

    async def _send(self, message: Message) -> None:
        await self.reads.wait()
        if self._left:
            raise OSError("the client is gone")
        self._from_server.put_nowait(message)

    async def _next(self, patience: float | None = PATIENCE) -> Message:
        async with asyncio.timeout(patience):
            return await self._from_server.get()

    async def send(self, message: Any) -> None:
        self.write(json.dumps(message))

    def write(self, text: str) -> None:
        self._to_server.put_nowait({"type": "websocket.receive", "text": text})

    def write_binary(self, data: bytes) -> None:
        self._to_server.put_nowait({"type": "websocket.receive", "bytes": data})

    def leave(self) -> None:
        """Disconnect."""
        if not self._left:
            self._left = True
            self.reads.set()
            self._to_server.put_nowait({"type": "websocket.disconnect", "code": 1005})

    async def receive(self, *, patience: float | None = PATIENCE) -> Any:
        """
        Raises:
            Closed: the server has closed the connection.
        """
        message = await self._next(patience)
        if message["type"] == "websocket.close":
            raise Closed(message["code"], message["reason"])
        return json.loads(message["text"])

    async def ask(self, message: Any) -> Any:
        await self.send(message)
        return await self.receive()

    async def closed(self) -> Closed:
        """Read to the end, and return how the connection was closed."""
        while True:
            try:
                await self.receive()
            except Closed as closed:
                return closed

    @property
    def unread(self) -> int:
        """Number of messages that were not read yet."""
        return self._from_server.qsize()
