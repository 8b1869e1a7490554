"""When operations are due at a fixed rate, whatever the server does meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

SECOND: Final = 10**9
MOST_AT_ONCE: Final = 10_000
"""Operations that one step may start: after a long pause of the generator, others get their turn, too."""


class OpenSchedule:
    """Evenly spaced times, or with Poisson spacing, as independent users produce it."""

    def __init__(self, rate: float, begin: int, end: int, *, random: Random | None = None) -> None:
        self._rate = rate
        self._begin = begin
        self._end = end
        self._random = random
        self._count = 0
        self._next = float(begin)

    def due(self, now: int) -> Iterator[int]:
        """The intended times up to now that were not returned before."""
        for _ in range(MOST_AT_ONCE):
            intended = int(self._next)
            if intended > now or intended >= self._end:
                return
            self._count += 1
            self._next = self._following()
            yield intended

    def _following(self) -> float:
        if self._random is None:
            # Not a sum, in which errors would add up.
            return self._begin + self._count * SECOND / self._rate
        return self._next + self._random.expovariate(self._rate) * SECOND

    @property
    def is_over(self) -> bool:
        return self._next >= self._end
