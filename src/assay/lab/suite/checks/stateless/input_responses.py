"""Answers are looked at before they are used."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import Retry, retries, succeeded, wants_input


@check("Answers are validated", rows=("MR-20", "MR-21", "MR-22", "MR-23"))
def judge(trace: Trace) -> Iterator[Observation]:
    for retry in retries(trace):
        if retry.exchange.answer is None or retry.is_forged or retry.is_misplaced:
            continue
        if not isinstance(retry.given, dict):
            yield _seen("MR-21", retry, retry.exchange.code is not None, "a JSON-RPC error")
        elif any(not isinstance(retry.given.get(key, {}), dict) for key in retry.questions):
            yield _seen("MR-20", retry, not succeeded(retry.exchange), "an error, or the question again")
        elif retry.given.keys() > retry.questions.keys():
            yield _seen("MR-22", retry, retry.exchange.code is None, "no error for an answer too many")
        elif retry.questions.keys() - retry.given.keys() and not succeeded(retry.exchange):
            yield _seen("MR-23", retry, wants_input(retry.exchange), "the question again")


def _seen(row: str, retry: Retry, holds: bool, expected: str) -> Observation:
    return observe(row, holds, retry, expected=expected, observed=retry.exchange)
