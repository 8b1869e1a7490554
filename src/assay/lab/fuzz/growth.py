"""Memory of a subject that the lab started: of its process and all that it started, as the kernel has it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from msgspec import Struct

PROC: Final = Path("/proc")
WINDOWS: Final = 6
"""Into so many parts the samples after the warm-up are cut."""
LEAST_SAMPLES: Final = 4 * WINDOWS
LEAST_BYTES: Final = 32 * 1024 * 1024
LEAST_SHARE: Final = 0.25
WARM_UP: Final = 0.25
"""The part of the samples that comes before everything is loaded and every cache is full."""


class Growth(Struct, frozen=True):
    before: int
    after: int
    cases: int

    def __str__(self) -> str:
        sizes = f"{_mebibytes(self.before)} after the warm-up, {_mebibytes(self.after)} at the end"
        return f"{sizes}, and more in each part of {self.cases} cases"


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.0f} MiB"


def resident(process_id: int, proc: Path = PROC) -> int | None:
    """Bytes of a process and its descendants; none where that cannot be told."""
    try:
        own = _own(proc / str(process_id))
    except OSError:
        return None
    return own + sum(resident(child, proc) or 0 for child in _children(proc / str(process_id)))


def _own(home: Path) -> int:
    for line in (home / "status").read_text("utf-8", "replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def _children(home: Path) -> list[int]:
    try:
        threads = list((home / "task").iterdir())
        return [int(child) for one in threads for child in (one / "children").read_text().split()]
    except OSError:
        return []


class Samples:
    """How the memory of one process went on, case by case."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []

    def take(self, cases: int, size: int) -> None:
        self._taken.append((cases, size))

    def growth(self) -> Growth | None:
        """Growth that does not end: every part of the run needs more than the one before, by enough in all.

        What a cache fills levels off, and one peak is no trend: both leave parts that do not grow.
        """
        warm = self._taken[int(len(self._taken) * WARM_UP) :]
        if len(warm) < LEAST_SAMPLES:
            return None
        size = len(warm) // WINDOWS
        parts = [int(median(one for _, one in warm[at * size : (at + 1) * size])) for at in range(WINDOWS)]
        grew = parts[-1] - parts[0]
        steady = all(later > earlier for earlier, later in pairwise(parts))
        if not steady or grew < max(LEAST_BYTES, LEAST_SHARE * parts[0]):
            return None
        return Growth(parts[0], parts[-1], warm[-1][0] - warm[0][0])
