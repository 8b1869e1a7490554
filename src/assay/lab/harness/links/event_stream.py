"""Splits an event stream into blocks without changing a byte; blocks are parsed later."""

from __future__ import annotations

import re
from typing import Final

from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded

# A line ends in CR LF, LF or CR; a blank line ends a block.
_BLANK: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n|$))")
_COMMENT: Final = re.compile(rb"(?:^|[\r\n]):")


def has_comment(block: bytes) -> bool:
    return _COMMENT.search(block) is not None


class Blocks:
    def __init__(self) -> None:
        self.rest = b""
        """The bytes since the last complete block."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the blocks that `data` completes.

        Raises:
            Flooded: a block exceeds the size limit of a trace.
        """
        self.rest += data
        blocks = []
        begin = 0
        for match in _BLANK.finditer(self.rest):
            blocks.append(self.rest[begin : match.end()])
            begin = match.end()
        self.rest = self.rest[begin:]
        if len(self.rest) > MAX_BYTES:
            raise Flooded
        return blocks
