"""Whether the generator, not the server, was the limit of a measurement."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, process_time
from typing import Final

from msgspec import Struct

from .histogram import Histogram

BUSY: Final = 0.95
"""A generator that uses its core, or waits for it, for this share of the time cannot send more."""
NEAR: Final = 0.9
"""A rate of so much of the floor's is a rate of the generator."""
LATE: Final = 20_000_000
"""Nanoseconds after its intended time at which an operation is late by the generator's fault."""
LATE_SHARE: Final = 0.01
_SCHEDSTAT: Final = Path("/proc/thread-self/schedstat")


class CpuUse(Struct, frozen=True):
    seconds: float
    cpu: float
    wait: float | None
    """Seconds in which the thread was ready to run, and did not."""

    @property
    def share(self) -> float:
        return self.cpu / self.seconds if self.seconds else 0.0

    @property
    def wait_share(self) -> float | None:
        return None if self.wait is None or not self.seconds else self.wait / self.seconds

    @property
    def busy(self) -> float:
        return self.share + (self.wait_share or 0.0)


class CpuMeter:
    """CPU time of this process since it was created."""

    def __init__(self) -> None:
        self._begin = monotonic(), process_time(), _waited()

    def read(self) -> CpuUse:
        begin, cpu, wait = self._begin
        waited = _waited()
        since = None if waited is None or wait is None else waited - wait
        return CpuUse(monotonic() - begin, process_time() - cpu, since)


def _waited() -> float | None:
    try:
        return int(_SCHEDSTAT.read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def saturation(
    use: CpuUse, rate: float, *, asked: float | None, lag: Histogram, floor_rate: float | None
) -> str:
    """Why the generator was the limit; empty if it was not."""
    late = lag.above(LATE) / lag.count if lag.count else 0.0
    if late > LATE_SHARE:
        return (
            f"the generator could not hold {asked:g} operations/s: it handled {late:.1%} of them more than "
            f"{LATE / 1e6:g} ms late"
        )
    # At a fixed rate that was held, a busy generator has done its work.
    if asked is None and use.busy >= BUSY:
        waited = "" if not use.wait_share else f", of which it waited {use.wait_share:.0%} for a core"
        return (
            f"the generator was busy for {use.busy:.0%} of the time{waited}: the server may be faster than "
            f"{rate:.0f} operations/s"
        )
    if asked is None and floor_rate and rate >= NEAR * floor_rate:
        return (
            f"{rate:.0f} operations/s is {rate / floor_rate:.0%} of what the generator can do here "
            f"({floor_rate:.0f}/s): the server may be faster"
        )
    return ""
