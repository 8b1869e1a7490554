"""The client's stdio transport: it starts the server process; each line is a message."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, Any

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.subject.process import Process
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing.lines import LineFramer

from .failure import ConnectionBroken
from .transport import PendingCall, PendingCalls

if TYPE_CHECKING:
    from .client import ScriptedClient


class StdioClientTransport:
    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self.process: Process | None = None
        self._pending = PendingCalls()
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        if self.process is not None:
            await self.close()
        try:
            self.process = await Process.start(shlex.split(self.client.setup.server))
        except Unreachable as reason:
            raise ConnectionBroken(str(reason)) from None
        self._reading = asyncio.create_task(self._read(self.process))

    async def opened(self) -> None: ...

    async def send(self, body: bytes, message: Any, call: PendingCall | None) -> None:
        self._pending.add(call)
        await self.write(body + b"\n")

    async def write(self, data: bytes) -> None:
        """Write bytes to the server. Saboteurs of lines act here."""
        hook = self.client.saboteur.line if self.client.saboteur else None
        if self.process is None or self.process.status is not None:
            raise ConnectionBroken("the server process has exited")
        try:
            await self.process.write(data if hook is None else hook(data, self.client))
        except (ConnectionError, RuntimeError):
            raise ConnectionBroken("the server closed its input") from None

    async def _read(self, process: Process) -> None:
        framer = LineFramer(MAX_BYTES)
        while data := await process.read():
            for line in framer.feed(data):
                if isinstance(line, bytes):
                    self.client.receive(line)
        self._pending.fail("the server closed its output")
        self.client.lost()

    async def close(self) -> None:
        """Close the server's input and wait; then terminate, and finally kill the process."""
        if self.process is None:
            return
        process, self.process = self.process, None
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self.client.behaviour.terminates_server:
            await process.stop()
        else:
            process.end_input()
