"""When a worker that has ended is started again."""

from __future__ import annotations

from typing import Final

FIRST: Final = 0.25
LONGEST: Final = 15.0
"""Between workers that end before they serve: the program or its surroundings must change first."""
LONGEST_AFTER_SERVICE: Final = 1.0
"""Between workers that end soon after they served: each may answer some requests."""
HEALTHY: Final = 3.0
"""Seconds of service after which an end counts as the first again."""


class BackOff:
    """The delay doubles with each worker in a row that ended before or soon after it served. A worker that
    had served for a while is replaced at once."""

    def __init__(self) -> None:
        self._short_lives = 0

    def delay(self, served: float | None) -> float:
        """Seconds to wait, after a worker that has served so long; none if it never did."""
        if served is not None and served >= HEALTHY:
            self._short_lives = 0
            return 0.0
        self._short_lives += 1
        longest = LONGEST if served is None else LONGEST_AFTER_SERVICE
        return min(longest, FIRST * 2.0 ** min(self._short_lives - 1, 16))
