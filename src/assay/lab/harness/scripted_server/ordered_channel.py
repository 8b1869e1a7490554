"""Messages on one ordered channel, each served while the next is read: WebSocket and stdio."""

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


class LineChannel:
    """A connection that carries messages both ways."""

    def __init__(self, connection: str, send: Write, raw: Write, hang_up: Callable[[], None]) -> None:
        self.connection = connection
        self.left = asyncio.Event()
        self.send = send
        self.raw = raw
        self._hang_up = hang_up
        self.complain: Write | None = None
        """Bytes on standard error, where there is such."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)

    async def finish(self) -> None: ...

    def cut(self) -> None:
        self._hang_up()


class Conversing:
    """Hands messages of a connection to the host."""

    def __init__(self, host: ScriptedServer, channel: LineChannel) -> None:
        self._host = host
        self._channel = channel
        self._tasks: set[asyncio.Task[None]] = set()
        host.listen(channel)

    def take(self, body: bytes) -> None:
        """A message; what is no JSON is in the trace, and gets no answer."""
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                task = asyncio.create_task(self._serve(one))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _serve(self, message: Json) -> None:
        with suppress(ConnectionError, Flooded):  # whoever reads from the connection meets the same
            await self._host.receive(RequestCycle(self._host, message, self._channel))

    async def end(self) -> None:
        """The client will say no more: what it was still owed is owed no longer."""
        self._host.deafen(self._channel)
        self._channel.left.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
