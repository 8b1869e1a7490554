"""What a process writes to its standard output or standard error, kept as it comes."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from types import TracebackType
from typing import Final

MOST: Final = 4 * 1024 * 1024
"""Bytes that are kept."""
PIECE: Final = 64 * 1024


class StandardStream:
    """A pipe of ours, not of the event loop's process: there, a process ends only when nobody holds its pipes
    any more, and a client may leave somebody behind who does."""

    def __init__(self) -> None:
        self._reads, self.writes = os.pipe()
        self._loop = asyncio.get_running_loop()
        self._kept = bytearray()
        self._over = asyncio.Event()
        self._loop.add_reader(self._reads, self._take)

    def __enter__(self) -> StandardStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.remove_reader(self._reads)
        os.close(self._reads)
        self.hand_over()

    def hand_over(self) -> None:
        """The process has its end of the pipe, or never will: ours would keep it open."""
        if self.writes >= 0:
            os.close(self.writes)
            self.writes = -1

    async def rest(self, limit: float) -> bytes:
        """All that was written: until the end, or until the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._over.wait()
        return bytes(self._kept)

    def _take(self) -> None:
        data = os.read(self._reads, PIECE)
        self._kept += data[: MOST - len(self._kept)]
        if not data:
            self._loop.remove_reader(self._reads)
            self._over.set()
