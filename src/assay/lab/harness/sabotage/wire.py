"""Faults on stdio: a layer around the pipes of a healthy process, or a script in place of one."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from assay.lab.harness.links.stdio import Wire
from assay.revisions.revision import Revision

from .alteration import Alteration, bodies, decoded, encode
from .saboteur import Answered, Script


class LayeredWire:
    """The pipes of a healthy process, with a fault in between."""

    def __init__(self, inner: Wire, altering: Alteration) -> None:
        self._inner = inner
        self._altering = altering
        self._unread = b""
        self._unsent = b""
        self._ready: asyncio.Queue[bytes] = asyncio.Queue()
        self._pumping = asyncio.create_task(self._pump())

    @property
    def tail(self) -> Any:
        return self._inner.tail

    async def read(self) -> bytes:
        return await self._ready.get()

    async def _pump(self) -> None:
        while data := await self._inner.read():
            *lines, self._unread = (self._unread + data).split(b"\n")
            for line in lines:
                for body in self._altering.answered(line):
                    self._ready.put_nowait(self._as_line(body))
        self._ready.put_nowait(b"")

    def _as_line(self, body: bytes) -> bytes:
        line = body + b"\n"
        change = self._altering.saboteur.line
        return line if change is None else change(line, self._altering.context)

    async def write(self, data: bytes) -> None:
        *lines, self._unsent = (self._unsent + data).split(b"\n")
        for line in lines:
            asked = self._altering.asked(line)
            if isinstance(asked, Answered):
                for body in bodies(asked.messages):
                    self._ready.put_nowait(body + b"\n")
            else:
                await self._inner.write(asked + b"\n")

    def end_input(self) -> None:
        self._inner.end_input()

    def terminate(self) -> None:
        self._inner.terminate()

    async def wait(self) -> int:
        return await self._inner.wait()

    async def stop(self) -> int:
        status = await self._inner.stop()
        self._pumping.cancel()
        await asyncio.gather(self._pumping, return_exceptions=True)
        return status


class ScriptedWire:
    """A server that is nothing but a script; it has no process, so its exit status is 0 or a fault's own."""

    def __init__(self, script: Script, revision: Revision) -> None:
        self.tail: deque[str] = deque(maxlen=20)
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._output: asyncio.Queue[bytes] = asyncio.Queue()
        self._unsent = b""
        self.deaf = False
        """Whether it does not end when it is asked to; the script says so."""
        self._script = asyncio.create_task(self._play(script, revision))

    async def _play(self, script: Script, revision: Revision) -> None:
        try:
            await script(self, revision)
        finally:
            self._output.put_nowait(b"")

    async def receive(self) -> Any:
        line = await self._lines.get()
        return None if line is None else decoded(line)

    def send(self, message: Any) -> None:
        self._output.put_nowait(message if isinstance(message, bytes) else encode(message) + b"\n")

    async def read(self) -> bytes:
        return await self._output.get()

    async def write(self, data: bytes) -> None:
        if self._script.done():
            raise ConnectionResetError
        *lines, self._unsent = (self._unsent + data).split(b"\n")
        for line in lines:
            self._lines.put_nowait(line)

    def end_input(self) -> None:
        self._lines.put_nowait(None)

    def terminate(self) -> None:
        if not self.deaf:
            self._script.cancel()

    async def wait(self) -> int:
        await asyncio.wait({self._script})
        return 0

    async def stop(self) -> int:
        self._script.cancel()
        await asyncio.gather(self._script, return_exceptions=True)
        return 0
