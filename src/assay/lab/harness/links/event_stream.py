"""Cuts an event stream into blocks without changing a byte: what a block says is read from it later."""

from __future__ import annotations

import re
from typing import Final

from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded

# A line may end in CR LF, LF or CR, and a blank line ends a block.
_BLANK: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n|$))")

_COMMENT: Final = re.compile(rb"(?:^|[\r\n]):")


def has_comment(block: bytes) -> bool:
    """Whether there is a line in it that only shows that the stream is alive."""
    return _COMMENT.search(block) is not None


class Blocks:
    def __init__(self) -> None:
        self.rest = b""
        """What has come since the last whole block."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the blocks that `data` completes.

        Raises:
            Flooded: one block is larger than a whole trace may be.
        """
        self.rest += data
        found = []
        begin = 0
        for match in _BLANK.finditer(self.rest):
            found.append(self.rest[begin : match.end()])
            begin = match.end()
        self.rest = self.rest[begin:]
        if len(self.rest) > MAX_BYTES:
            raise Flooded
        return found
