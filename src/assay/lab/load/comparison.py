"""Compares a result with a stored one: what became worse, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from assay.lab.error import InvalidOptions

from .result import LoadResult

TOLERANCE: Final = 0.1
LATENCIES: Final = ("p50", "p90", "p99", "p999", "max")
LEAST_MS: Final = 0.2
"""A latency that grew by less is not worse: the clock of a busy machine is not better."""


class Change(Struct, frozen=True):
    metric: str
    before: float
    after: float
    worse: bool

    @property
    def ratio(self) -> float | None:
        return self.after / self.before if self.before else None


def compare(result: LoadResult, stored: LoadResult, tolerance: float = TOLERANCE) -> list[Change]:
    """
    Raises:
        InvalidOptions: the two are not comparable.
    """
    _check_comparable(result, stored)
    changes = []
    for metric, before, after, higher_is_better in _pairs(result, stored):
        if before is None or after is None:
            continue
        worse = after < before * (1 - tolerance) if higher_is_better else after > before * (1 + tolerance)
        if metric in LATENCIES:
            worse = worse and after - before > LEAST_MS
        worse = worse and metric != "max"  # a single sample: shown, not judged
        changes.append(Change(metric, before, after, worse))
    return changes


def _check_comparable(result: LoadResult, stored: LoadResult) -> None:
    for name in ("transport", "revision", "traffic", "pace", "network"):
        mine, theirs = getattr(result, name), getattr(stored, name)
        if mine != theirs:
            problem = f"the stored result has another {name}: {theirs}"
            raise InvalidOptions(problem, f"measure with the same options; this result has {mine}")
    if stored.saturated or stored.latency is None:
        raise InvalidOptions("the stored result has no latencies: its generator was the limit")


def _pairs(result: LoadResult, stored: LoadResult) -> Iterator[tuple[str, float | None, float | None, bool]]:
    yield "rate", stored.rate, result.rate, True
    for name in LATENCIES:
        yield name, getattr(stored.latency, name, None), getattr(result.latency, name, None), False
    yield "errors", stored.error_rate, result.error_rate, False
    if stored.server is not None and result.server is not None:
        yield "server cpu_us", stored.server.cpu_us, result.server.cpu_us, False
        yield "server rss", float(stored.server.rss_max), float(result.server.rss_max), False
