"""Metrics of all workers: what they counted is added up, also after they have ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Numbers = dict[str, dict[str, float]]
"""`counters` and `gauges`, each by series."""


class Totals:
    def __init__(self) -> None:
        self._retired: dict[str, float] = {}
        self.restarts = 0
        """Workers that ended unasked."""

    def retire(self, numbers: Numbers) -> None:
        """Keep the counters of a worker that has ended: a counter must not fall."""
        _add(self._retired, numbers.get("counters", {}))

    def sum_of(self, parts: Iterable[Numbers]) -> dict[str, Any]:
        counters, gauges = dict(self._retired), dict[str, float]()
        for numbers in parts:
            _add(counters, numbers.get("counters", {}))
            _add(gauges, numbers.get("gauges", {}))
        return {"counters": counters, "gauges": gauges, "restarts": self.restarts}


def _add(sums: dict[str, float], numbers: dict[str, float]) -> None:
    for series, number in numbers.items():
        sums[series] = sums.get(series, 0) + number
