"""What a tap records, and how much of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from assay.lab.error import InvalidOptions

MIB: Final = 1024 * 1024
SMALLEST: Final = 64 * 1024
PARTS: Final = 4
"""A recording has room for as many traces, so that those in use are never removed."""


class TapOptions(Struct, frozen=True):
    output: Path = Path("results")
    """Each tap has a new directory here."""
    rotate: int = 32 * MIB
    """Bytes after which a conversation continues in a new trace."""
    keep: int = 1024 * MIB
    """Bytes of all traces together; the oldest are removed."""
    frame: int = 8 * MIB
    """Bytes of the largest message that is recorded; larger ones are passed on, and noted."""
    connections: int = 1000
    """Of clients, at once."""
    secrets: tuple[str, ...] = ()
    redact_headers: tuple[str, ...] = ()
    judge: bool = True

    def check(self) -> None:
        """
        Raises:
            InvalidOptions: the sizes do not fit each other.
        """
        if min(self.rotate, self.frame) < SMALLEST:
            raise InvalidOptions(f"a trace of fewer than {SMALLEST} bytes", "choose a larger --rotate")
        if self.keep < PARTS * max(self.rotate, self.frame):
            largest = max(self.rotate, self.frame)
            problem = f"--keep {self.keep} has no room for {PARTS} traces of {largest} bytes"
            raise InvalidOptions(problem, "choose a larger --keep, or smaller --rotate and --largest")
