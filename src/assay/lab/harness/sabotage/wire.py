"""Faults on stdio: a layer around the pipes of a healthy process, or a script instead of a process."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from assay.lab.harness.links.split import Lines
from assay.lab.harness.links.stdio import Wire
from assay.revisions.revision import Revision

from .alteration import Alteration, bodies, decode, encode
from .saboteur import LocalAnswer, Script


class FaultyWire:
    """The pipes of a healthy process, altered by a fault."""

    def __init__(self, inner: Wire, alteration: Alteration) -> None:
        self._inner = inner
        self._alteration = alteration
        self._unread = Lines()
        self._unsent = Lines()
        self._ready: asyncio.Queue[bytes] = asyncio.Queue()
        self._pumping = asyncio.create_task(self._pump())

    @property
    def tail(self) -> Any:
        return self._inner.tail

    async def read(self) -> bytes:
        return await self._ready.get()

    async def _pump(self) -> None:
        while data := await self._inner.read():
            for line in self._unread.feed(data):
                for body in self._alteration.alter_reply(line):
                    self._ready.put_nowait(self._as_line(body))
        self._ready.put_nowait(b"")

    def _as_line(self, body: bytes) -> bytes:
        line = body + b"\n"
        hook = self._alteration.saboteur.line
        return line if hook is None else hook(line, self._alteration.context)

    async def write(self, data: bytes) -> None:
        for line in self._unsent.feed(data):
            altered = self._alteration.alter_request(line)
            if isinstance(altered, LocalAnswer):
                if altered.delay:
                    await asyncio.sleep(altered.delay)
                for body in bodies(altered.messages):
                    self._ready.put_nowait(body + b"\n")
            else:
                await self._inner.write(altered + b"\n")

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
    """A server that a script plays, without a process."""

    def __init__(self, script: Script, revision: Revision) -> None:
        self.tail: deque[str] = deque(maxlen=20)
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._output: asyncio.Queue[bytes] = asyncio.Queue()
        self._unsent = Lines()
        self.ignores_termination = False
        """Set by the script to ignore termination."""
        self._script = asyncio.create_task(self._run(script, revision))

    async def _run(self, script: Script, revision: Revision) -> None:
        try:
            await script(self, revision)
        finally:
            self._output.put_nowait(b"")

    async def receive(self) -> Any:
        line = await self._lines.get()
        return None if line is None else decode(line)

    def send(self, message: Any) -> None:
        self._output.put_nowait(message if isinstance(message, bytes) else encode(message) + b"\n")

    async def read(self) -> bytes:
        return await self._output.get()

    async def write(self, data: bytes) -> None:
        if self._script.done():
            raise ConnectionResetError
        for line in self._unsent.feed(data):
            self._lines.put_nowait(line)

    def end_input(self) -> None:
        self._lines.put_nowait(None)

    def terminate(self) -> None:
        if not self.ignores_termination:
            self._script.cancel()

    async def wait(self) -> int:
        await asyncio.wait({self._script})
        return 0

    async def stop(self) -> int:
        self._script.cancel()
        await asyncio.gather(self._script, return_exceptions=True)
        return 0
