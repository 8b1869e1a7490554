"""How the checks of this suite find exchanges, judge items of lists and report problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.check import Check
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.verdict import Evidence


def answered(trace: Trace, method: str, **params: Any) -> Iterator[Exchange]:
    """Requests of a method with these parameters that were answered, or refused by an HTTP status."""
    for exchange in trace.exchanges(method):
        fits = all(exchange.params.get(key) == value for key, value in params.items())
        if fits and (exchange.answer is not None or _is_refused(exchange)):
            yield exchange


def _is_refused(exchange: Exchange) -> bool:
    return exchange.head is not None and exchange.head.status >= 400


def judged(row: str, faults: Iterable[str], *evidence: Evidence, expected: str) -> Observation:
    """An observation that holds where nothing is wrong."""
    found = list(faults)
    return observe(row, not found, *evidence, expected=expected, observed="; ".join(found))


def result_faults(exchange: Exchange, faults_of: Callable[[dict[str, Any]], Iterable[str]]) -> list[str]:
    """What is wrong with a result; where there is none, what there is instead."""
    return [str(exchange)] if exchange.result is None else list(faults_of(exchange.result))


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


def borrow(trace: Trace, row: str, check: Check, *theirs: str) -> Iterator[Observation]:
    """The observations of a check on these rows of its own, as observations on another row."""
    for seen in check.judge(trace):
        if seen.requirement in theirs:
            yield msgspec.structs.replace(seen, requirement=row)
