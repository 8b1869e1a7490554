"""How checks of this suite judge items of lists, and borrow observations of other checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.check import Check
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered


def judge_list(
    trace: Trace, requirement: str, key: str, problem_of: Callable[[dict[str, Any]], str | None]
) -> Iterator[Observation]:
    """Every page of `<key>/list` is a list of complete objects."""
    for exchange in answered(trace, f"{key}/list"):
        problem = _page_problem(exchange, key, problem_of)
        expected = f"a list `{key}` whose items are complete"
        yield observe(requirement, problem is None, exchange, expected=expected, observed=problem)


def _page_problem(
    exchange: Exchange, key: str, problem_of: Callable[[dict[str, Any]], str | None]
) -> str | None:
    if not isinstance((exchange.result or {}).get(key), list):
        return str(exchange)
    for item in exchange.items(key):
        problem = problem_of(item) if isinstance(item, dict) else f"an item that is not an object: {item!r}"
        if problem:
            return problem
    return None


def lacking(item: dict[str, Any], *keys: str) -> str | None:
    """The required texts that an item does not have."""
    missing = [key for key in keys if not isinstance(item.get(key), str) or not item[key]]
    name = item.get("name") or item.get("uri")
    return f"{name!r} without {', '.join(missing)}" if missing else None


def borrow(trace: Trace, requirement: str, check: Check, *cited: str) -> Iterator[Observation]:
    """The observations of another check that cite these requirements, for this requirement."""
    for observation in check.judge(trace):
        if observation.requirement in cited:
            yield msgspec.structs.replace(observation, requirement=requirement)
