"""Bytes that arrive in pieces, split into lines or into blocks of an event stream.

Each byte is searched once, however small the pieces are: a subject chooses their size, and a search
from the beginning for each of them takes seconds for a message of a few megabytes.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

# A line ends in CR LF, LF or CR; a blank line ends a block.
_BLANK: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n|$))")
_UNDECIDED: Final = 3
"""Bytes of an end that a further byte may complete: `\\r\\n\\r`."""


class Lines:
    def __init__(self) -> None:
        self._rest = bytearray()

    @property
    def rest(self) -> bytes:
        """The bytes since the last newline."""
        return bytes(self._rest)

    def __len__(self) -> int:
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their newlines."""
        first, *others = data.split(b"\n")
        self._rest += first
        if not others:
            return []
        lines = [bytes(self._rest), *others[:-1]]
        self._rest = bytearray(others[-1])
        return lines


class Blocks:
    def __init__(self) -> None:
        self._rest = bytearray()

    @property
    def rest(self) -> bytes:
        """The bytes since the last complete block."""
        return bytes(self._rest)

    def __len__(self) -> int:
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the blocks that `data` completes, with their blank lines."""
        searched = max(len(self._rest) - _UNDECIDED, 0)
        self._rest += data
        ends = [match.end() for match in _BLANK.finditer(self._rest, searched)]
        blocks = [bytes(self._rest[begin:end]) for begin, end in pairwise((0, *ends))]
        del self._rest[: sum(map(len, blocks))]
        return blocks
