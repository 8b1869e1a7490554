"""Concurrent serving of the messages of a bidirectional connection: WebSocket and stdio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from assay.lab.harness.trace.recorder import Flooded

from .answer import Json
from .request_cycle import RequestCycle
from .server import ScriptedServer

Write = Callable[[bytes], Awaitable[None]]


class DuplexChannel:
    """A connection that carries messages in both directions."""

    def __init__(self, connection: str, send: Write, raw: Write, cut: Callable[[], None]) -> None:
        self.connection = connection
        self.disconnected = asyncio.Event()
        self.send = send
        self.raw = raw
        self.cut = cut
        self.write_stderr: Write | None = None
        """Writes bytes to standard error, on stdio."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)

    async def finish(self) -> None: ...


class MessageDispatcher:
    """Passes the messages of a connection to the scripted server."""

    def __init__(self, server: ScriptedServer, channel: DuplexChannel) -> None:
        self._server = server
        self._channel = channel
        self._tasks: set[asyncio.Task[None]] = set()
        server.attach(channel)

    def dispatch(self, body: bytes) -> None:
        """Serve a message or a batch. Invalid JSON gets no answer; the trace has it."""
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, dict):
                task = asyncio.create_task(self._serve(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _serve(self, message: Json) -> None:
        with suppress(ConnectionError, Flooded):  # the reader of the connection meets and reports the same
            await self._server.receive(RequestCycle(self._server, message, self._channel))

    async def end(self) -> None:
        """Cancel all work: the client closed the connection."""
        self._server.detach(self._channel)
        self._channel.disconnected.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
