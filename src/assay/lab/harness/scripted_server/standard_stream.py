"""Captures the standard output or standard error of a process."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from types import TracebackType
from typing import Final

MOST: Final = 4 * 1024 * 1024
"""Bytes to keep."""
PIECE: Final = 64 * 1024


class StandardStream:
    """A pipe that asyncio does not manage.

    With its own pipes, asyncio reports the exit of a process only after every child process that inherited
    them has closed them, too.
    """

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        self._loop = asyncio.get_running_loop()
        self._data = bytearray()
        self._closed = asyncio.Event()
        self._loop.add_reader(self._read_end, self._read)

    def __enter__(self) -> StandardStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.remove_reader(self._read_end)
        os.close(self._read_end)
        self.close_write_end()

    def close_write_end(self) -> None:
        """Close our copy, which would keep the pipe open after the process has exited."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    async def rest(self, limit: float) -> bytes:
        """All output up to the end of the stream, or to the time limit."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._closed.wait()
        return bytes(self._data)

    def _read(self) -> None:
        data = os.read(self._read_end, PIECE)
        self._data += data[: MOST - len(self._data)]
        if not data:
            self._loop.remove_reader(self._read_end)
            self._closed.set()
