"""A stand-in for the pipes of a process: a WebSocket connection to a shared healthy server.

A text frame carries the same message as a line. So trials of stdio faults need no process each, except for
faults of the process itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.links.split import Lines
from assay.lab.harness.links.websocket import WebSocketLink
from assay.lab.harness.trace.frame import Frame, Header
from assay.lab.harness.trace.recorder import Recorder
from assay.revisions.registry import REVISIONS

PATIENCE = 10.0


class WebSocketWire:
    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.tail: deque[str] = deque()
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()
        self._over = asyncio.Event()
        self._unsent = Lines()
        self._closing: asyncio.Task[None] | None = None
        # The driver's link records the trial; the link here needs a recorder but its trace is discarded.
        recorder = Recorder(Header(REVISIONS[-1].date, "ws", url, "wire"))
        self._link = WebSocketLink(
            url, self, recorder, REVISIONS[-1], name="wire", patience=PATIENCE, headers=headers
        )

    @classmethod
    async def open(cls, url: str, headers: Mapping[str, str] | None = None) -> WebSocketWire:
        """
        Raises:
            ConnectionRejected: the server refused the upgrade.
        """
        wire = cls(url, headers or {})
        try:
            await wire._link.open()
        except BrokenOff:
            await wire._link.close()
            raise
        return wire

    def deliver(self, frame: Frame, body: bytes) -> None:
        self._messages.put_nowait(body + b"\n")

    def ended(self, channel: str) -> None: ...

    def fail(self, reason: BrokenOff) -> None:
        self._over.set()
        self._messages.put_nowait(b"")

    async def read(self) -> bytes:
        return await self._messages.get()

    async def write(self, data: bytes) -> None:
        for line in self._unsent.feed(data):
            await self._link.send(line, None, {})

    def end_input(self) -> None:
        self._closing = asyncio.create_task(self._link.close())

    def terminate(self) -> None:
        self.end_input()

    async def wait(self) -> int:
        await self._over.wait()
        return 0

    async def stop(self) -> int:
        if self._closing is not None:
            await self._closing
        await self._link.close()
        return 0
