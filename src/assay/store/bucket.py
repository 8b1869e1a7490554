"""A token bucket as a value: it gains tokens with time, and each request takes one."""

from __future__ import annotations

from typing import Final, NamedTuple

ROUNDING: Final = 1e-9
"""Part of a token that the sums of many fractions may differ by."""
SHORTEST_WAIT: Final = 0.001


class Bucket(NamedTuple):
    tokens: float
    filled_at: float

    def take(self, now: float, rate: float, burst: float) -> tuple[Bucket, float]:
        """The bucket afterwards, and the seconds until there is a token; 0 if one was taken."""
        tokens = min(burst, self.tokens + max(0.0, now - self.filled_at) * rate)
        if tokens >= 1 - ROUNDING:
            return Bucket(tokens - 1, now), 0.0
        return Bucket(tokens, now), max((1 - tokens) / rate, SHORTEST_WAIT)
