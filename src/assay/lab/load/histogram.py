"""A histogram of latencies with a bounded size and a bounded relative error, like HdrHistogram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final

PRECISION: Final = 11
"""Bits of each value that are kept: a value is at most 1/1024 too high."""
HIGHEST: Final = 3_600 * 10**9
"""Nanoseconds. Longer times count as this one, so that the number of buckets is bounded."""


class Histogram:
    """Counts whole nanoseconds. Values below 2048 ns are exact."""

    __slots__ = ("_counts", "count", "highest", "lowest", "total")

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.count = 0
        self.total = 0
        self.lowest = HIGHEST
        self.highest = 0

    def record(self, value: int) -> None:
        if value < 0:
            value = 0
        elif value > HIGHEST:
            value = HIGHEST
        shift = value.bit_length() - PRECISION
        bucket = value if shift <= 0 else (shift << PRECISION) + (value >> shift)
        counts = self._counts
        counts[bucket] = counts.get(bucket, 0) + 1
        self.count += 1
        self.total += value
        if value > self.highest:
            self.highest = value
        if value < self.lowest:
            self.lowest = value

    def merge(self, other: Histogram) -> None:
        for bucket, count in other._counts.items():
            self._counts[bucket] = self._counts.get(bucket, 0) + count
        self.count += other.count
        self.total += other.total
        self.highest = max(self.highest, other.highest)
        self.lowest = min(self.lowest, other.lowest)

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    def percentile(self, share: float) -> int:
        """The value below or at which this share (0 to 100) of the values lies, by nearest rank."""
        return self.percentiles((share,))[0]

    def percentiles(self, shares: Iterable[float]) -> list[int]:
        """Several percentiles, in ascending order of the shares. All are zero if nothing was recorded."""
        ascending = list(shares)
        ranks = [max(1, ceil(round(share * self.count / 100, 9))) for share in ascending]
        values: list[int] = []
        passed = 0
        buckets = iter(sorted(self._counts.items()))
        bucket = 0
        for rank in ranks:
            while self.count and passed < rank:
                bucket, count = next(buckets)
                passed += count
            values.append(min(highest_of(bucket), self.highest) if self.count else 0)
        return values

    def above(self, value: int) -> int:
        """How many values are certainly higher."""
        return sum(count for bucket, count in self._counts.items() if lowest_of(bucket) > value)

    def buckets(self) -> dict[str, int]:
        """The counts by the highest value of each bucket, for a file."""
        return {
            str(min(highest_of(bucket), self.highest)): count
            for bucket, count in sorted(self._counts.items())
        }

    @classmethod
    def of(cls, buckets: Mapping[str, int]) -> Histogram:
        """
        Raises:
            ValueError: a value or count is not a whole number from 0.
        """
        histogram = cls()
        for text, count in buckets.items():
            value = int(text)
            if value < 0 or count < 1:
                raise ValueError(f"not a bucket: {text}: {count}")
            single = cls()
            single.record(value)
            single._counts = {bucket: count for bucket in single._counts}
            single.count, single.total = count, value * count
            histogram.merge(single)
        return histogram


def highest_of(bucket: int) -> int:
    """The highest value that a bucket stands for."""
    shift = bucket >> PRECISION
    return bucket if not shift else (((bucket & ((1 << PRECISION) - 1)) + 1) << shift) - 1


def lowest_of(bucket: int) -> int:
    shift = bucket >> PRECISION
    return bucket if not shift else (bucket & ((1 << PRECISION) - 1)) << shift
