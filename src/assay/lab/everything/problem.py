"""What is wrong, in words, as an observation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay.lab.harness import Observation, observe
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.verdict import Evidence


def judged(row: str, faults: Iterable[str], *evidence: Evidence, expected: str) -> Observation:
    """An observation that holds where nothing is wrong."""
    found = list(faults)
    return observe(row, not found, *evidence, expected=expected, observed="; ".join(found))


def result_faults(exchange: Exchange, faults_of: Callable[[dict[str, Any]], Iterable[str]]) -> list[str]:
    """What is wrong with a result; where there is none, what there is instead."""
    return [str(exchange)] if exchange.result is None else list(faults_of(exchange.result))
