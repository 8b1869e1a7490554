"""When a worker that has ended is started again."""

from __future__ import annotations

from typing import Final

FIRST: Final = 0.25
LONGEST: Final = 15.0
HEALTHY: Final = 3.0
"""Seconds of service after which an end counts as the first again."""


class BackOff:
    """The delay doubles with each worker in a row that ended before or soon after it served. A worker that
    had served for a while is replaced at once."""

    def __init__(self) -> None:
        self._short_lives = 0

    def delay(self, served: float) -> float:
        """Seconds to wait, after a worker that has served so long."""
        if served >= HEALTHY:
            self._short_lives = 0
            return 0.0
        self._short_lives += 1
        return min(LONGEST, FIRST * 2.0 ** (self._short_lives - 1))
