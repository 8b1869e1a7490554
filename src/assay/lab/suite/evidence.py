"""How checks select answered requests, and report lists of faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from assay.lab.harness import Observation, Trace, observe
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
