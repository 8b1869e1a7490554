"""Growth of the memory of a process that the lab started, with its child processes."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import Final

from msgspec import Struct

WINDOWS: Final = 6
"""The number of parts into which the samples after the warm-up are divided."""
LEAST_SAMPLES: Final = 4 * WINDOWS
LEAST_BYTES: Final = 32 * 1024 * 1024
LEAST_SHARE: Final = 0.25
WARM_UP: Final = 0.25
"""The fraction of samples to ignore: modules are still loaded and caches filled."""


class MemoryGrowth(Struct, frozen=True):
    before: int
    after: int
    cases: int

    def __str__(self) -> str:
        sizes = f"{_mebibytes(self.before)} after the warm-up, {_mebibytes(self.after)} at the end"
        return f"{sizes}, with steady growth over {self.cases} cases"


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.0f} MiB"


class MemorySamples:
    """Samples of the memory of one process."""

    def __init__(self) -> None:
        self._samples: list[tuple[int, int]] = []

    def add(self, cases: int, size: int) -> None:
        self._samples.append((cases, size))

    def growth(self) -> MemoryGrowth | None:
        """Growth in every part of the run, and by enough in all.

        A cache that fills up, or a single peak, leaves parts without growth.
        """
        warm = self._samples[int(len(self._samples) * WARM_UP) :]
        if len(warm) < LEAST_SAMPLES:
            return None
        size = len(warm) // WINDOWS
        parts = [
            int(median(bytes_used for _, bytes_used in warm[at * size : (at + 1) * size]))
            for at in range(WINDOWS)
        ]
        increase = parts[-1] - parts[0]
        steady = all(later > earlier for earlier, later in pairwise(parts))
        if not steady or increase < max(LEAST_BYTES, LEAST_SHARE * parts[0]):
            return None
        return MemoryGrowth(parts[0], parts[-1], warm[-1][0] - warm[0][0])
