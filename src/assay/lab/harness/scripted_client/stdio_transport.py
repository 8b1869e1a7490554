"""stdio, as the client speaks it: it starts the server, and one line is one message."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, Any

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.subject.process import Process
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing.lines import LineFramer

from .failure import Broken
from .transport import Call, Waiting

if TYPE_CHECKING:
    from .client import ScriptedClient


class StdioClientTransport:
    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self.process: Process | None = None
        self._waiting = Waiting()
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        if self.process is not None:
            await self.close()
        try:
            self.process = await Process.start(shlex.split(self.client.invitation.server))
        except Unreachable as reason:
            raise Broken(str(reason)) from None
        self._reading = asyncio.create_task(self._read(self.process))

    async def opened(self) -> None: ...

    async def send(self, body: bytes, message: Any, call: Call | None) -> None:
        self._waiting.add(call)
        await self.write(body + b"\n")

    async def write(self, data: bytes) -> None:
        """Bytes for the server: the one place where a fault meets lines."""
        hook = self.client.saboteur.line if self.client.saboteur else None
        if self.process is None or self.process.status is not None:
            raise Broken("the server has ended")
        try:
            await self.process.write(data if hook is None else hook(data, self.client))
        except (ConnectionError, RuntimeError):
            raise Broken("the server reads no more") from None

    async def _read(self, process: Process) -> None:
        framer = LineFramer(MAX_BYTES)
        while data := await process.read():
            for line in framer.feed(data):
                if isinstance(line, bytes):
                    self.client.hear(line)
        self._waiting.fail("the server ended its output")
        self.client.lost()

    async def close(self) -> None:
        """Close its input, wait for it, then ask it to end, then make it end."""
        if self.process is None:
            return
        process, self.process = self.process, None
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self.client.behaviour.insists:
            await process.stop()
        else:
            process.end_input()
