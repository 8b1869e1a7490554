"""Lists, judged item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.trace.trace import Exchange

from .exchange import answered


def judge_list(
    trace: Trace, row: str, key: str, problem_of: Callable[[dict[str, Any]], str | None]
) -> Iterator[Observation]:
    """Every page of `<key>/list` is a list of sound objects."""
    for exchange in answered(trace, f"{key}/list"):
        problem = _page_problem(exchange, key, problem_of)
        expected = f"a list `{key}` whose items are complete"
        yield observe(row, problem is None, exchange, expected=expected, observed=problem)


def _page_problem(
    exchange: Exchange, key: str, problem_of: Callable[[dict[str, Any]], str | None]
) -> str | None:
    if not isinstance((exchange.result or {}).get(key), list):
        return str(exchange)
    for item in exchange.items(key):
        problem = problem_of(item) if isinstance(item, dict) else f"an item that is no object: {item!r}"
        if problem:
            return problem
    return None


def lacking(item: dict[str, Any], *keys: str) -> str | None:
    """Which of the texts that an item must have it does not."""
    missing = [key for key in keys if not isinstance(item.get(key), str) or not item[key]]
    named = item.get("name") or item.get("uri")
    return f"{named!r} without {', '.join(missing)}" if missing else None
