"""Lines that the user types, read without a thread: Ctrl-C must be able to end the wait."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Final

from assay.cli.output.stream import prompt

CHUNK: Final = 65_536


class Terminal:
    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._rest = b""
        self._is_reading = False

    @property
    def is_there(self) -> bool:
        """Whether someone can answer."""
        return sys.stdin is not None and sys.stdin.isatty()

    async def ask(self, text: str) -> str | None:
        """The user's line after this text; None at the end of input, as after Ctrl-D."""
        prompt(f"{text} ")
        if sys.platform == "win32":
            return await asyncio.to_thread(_read_line)
        if not self._is_reading:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._readable)
            self._is_reading = True
        return await self._lines.get()

    def _readable(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), CHUNK)
        except OSError:  # the terminal is gone
            data = b""
        if not data:
            self._lines.put_nowait(None)
            self.close()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._lines.put_nowait(line.decode(errors="replace"))

    def close(self) -> None:
        if self._is_reading:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._is_reading = False


def _read_line() -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None
