"""How checks of this suite select exchanges, judge items of lists and report faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.check import Check
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.verdict import Evidence


def answered(trace: Trace, method: str, **params: Any) -> Iterator[Exchange]:
    """Requests of a method with these parameters that got a reply, or an HTTP status of 400 or more."""
    for exchange in trace.exchanges(method):
        matches = all(exchange.params.get(key) == value for key, value in params.items())
        refused = exchange.head is not None and exchange.head.status >= 400
        if matches and (exchange.answer is not None or refused):
            yield exchange


def no_faults(requirement: str, faults: Iterable[str], *evidence: Evidence, expected: str) -> Observation:
    """An observation that holds if the list of faults is empty."""
    listed = list(faults)
    return observe(requirement, not listed, *evidence, expected=expected, observed="; ".join(listed))


def result_faults(exchange: Exchange, faults_of: Callable[[dict[str, Any]], Iterable[str]]) -> list[str]:
    """The faults of a result, or the reply that came instead of one."""
    return [str(exchange)] if exchange.result is None else list(faults_of(exchange.result))


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
