"""Service level objectives: `p95<250ms,errors<0.1%`, and whether a result meets them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from assay.lab.error import InvalidOptions

if TYPE_CHECKING:
    from .result import LoadResult

_PART: Final = re.compile(
    r"(?P<metric>(?:stream-)?p\d{1,2}(?:\.\d{1,3})?|[a-z][a-z-]*)\s*(?P<sign><=|>=|<|>)\s*"
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-zA-Z%/]*)"
)
_PERCENTILE: Final = re.compile(r"(stream-)?p(\d{1,2}(?:\.\d{1,3})?)")
TIMES: Final = {"": 1.0, "us": 0.001, "ms": 1.0, "s": 1000.0}
SHARES: Final = {"": 1.0, "%": 0.01}
RATES: Final = {"": 1.0, "/s": 1.0}
SIZES: Final = {"": 1.0, "B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3}
COUNTS: Final = {"": 1.0}
# The units of each metric, and what one of it is in the unit of the result.
METRICS: Final = {
    "mean": TIMES,
    "max": TIMES,
    "errors": SHARES,
    "rate": RATES,
    "rss": SIZES,
    "leak": SIZES,
    "fds": COUNTS,
    "cpu": SHARES,
}
FORM: Final = (
    "write p95<250ms, max<1s, mean<20ms, stream-p95<250ms, errors<0.1%, rate>=100/s, rss<200MB, leak<1KB "
    "(for each operation), fds<100 or cpu<80%, separated by commas"
)
MOST: Final = 20


class Objective(Struct, frozen=True):
    text: str
    metric: str
    sign: str
    limit: float
    """In milliseconds, a share from 0 to 1, a number in a second, or bytes."""

    def holds(self, value: float) -> bool:
        match self.sign:
            case "<":
                return value < self.limit
            case "<=":
                return value <= self.limit
            case ">":
                return value > self.limit
        return value >= self.limit


class ObjectiveResult(Struct, frozen=True):
    objective: str
    value: float | None
    """None if it was not measured."""
    met: bool


def parse_objectives(text: str) -> list[Objective]:
    """
    Raises:
        InvalidOptions: a part is not an objective.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > MOST:
        raise InvalidOptions(f"more than {MOST} objectives", "leave some out")
    return [_parse(part) for part in parts]


def _parse(text: str) -> Objective:
    match = _PART.fullmatch(text)
    if match is None:
        raise InvalidOptions(f"not an objective: {text}", FORM)
    metric = match["metric"]
    units = TIMES if _PERCENTILE.fullmatch(metric) else METRICS.get(metric)
    if units is None:
        raise InvalidOptions(f"unknown metric: {metric}", FORM)
    if match["unit"] not in units:
        known = ", ".join(unit for unit in units if unit) or "a plain number"
        raise InvalidOptions(f"{text}: {match['unit']} is not a unit of {metric}", f"use {known}")
    return Objective(text, metric, match["sign"], float(match["number"]) * units[match["unit"]])


def judge_objectives(objectives: list[Objective], result: LoadResult) -> list[ObjectiveResult]:
    judged = []
    for objective in objectives:
        value = value_of(objective.metric, result)
        met = value is not None and objective.holds(value)
        judged.append(ObjectiveResult(objective.text, value, met))
    return judged


def value_of(metric: str, result: LoadResult) -> float | None:
    """None if it was not measured, or the generator could not hold the rate."""
    if result.saturated:
        return None
    match = _PERCENTILE.fullmatch(metric)
    if match is not None:
        histogram = result.stream_latencies() if match[1] else result.latencies()
        return histogram.percentile(float(match[2])) / 1e6 if histogram.count else None
    latency, server = result.latency, result.server
    match metric:
        case "mean" | "max":
            return None if latency is None else getattr(latency, metric)
        case "errors":
            return result.error_rate if result.operations else None
        case "rate":
            return result.rate
        case "rss" | "fds":
            return None if server is None else float(getattr(server, f"{metric}_max"))
        case "cpu":
            return None if server is None else server.cpu_share
    return None if server is None else server.leak
