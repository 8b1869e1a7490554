"""State that passes through clients is believed only if it is genuine and in its place."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import Retry, identity, retries, succeeded


@check("Request state is verified", rows=("MR-08", "MR-09", "MR-10"))
def judge(trace: Trace) -> Iterator[Observation]:
    groups: dict[str, list[Retry]] = defaultdict(list)
    for retry in retries(trace):
        groups[f"{identity(retry.exchange)} {json.dumps(retry.given)}"].append(retry)
    forged = [one for group in groups.values() for one in group if one.is_forged]
    sealed = any(not succeeded(one.exchange) for one in forged)
    for group in groups.values():
        yield from _forged(group)
        # Who does not protect its state has nothing to bind it with.
        if sealed:
            yield from _misplaced(group)


def _forged(group: list[Retry]) -> Iterator[Observation]:
    matters = any(one.state is None and not succeeded(one.exchange) for one in group)
    genuine = any(_is_genuine(one) and succeeded(one.exchange) for one in group)
    for one in group:
        accepted = succeeded(one.exchange)
        # Accepting it is a fault where the state is seen to matter: without it, the same answers do not do.
        if one.is_forged and (not accepted or (matters and genuine)):
            expected = "an error, or the question again: this state was never given out"
            for row in ("MR-08", "MR-09"):
                yield observe(row, not accepted, one, expected=expected, observed=one.exchange)


def _misplaced(group: list[Retry]) -> Iterator[Observation]:
    genuine = any(_is_genuine(one) and succeeded(one.exchange) for one in group)
    for one in group:
        if one.is_misplaced and genuine:
            expected = "an error: this state was given to another request"
            yield observe("MR-10", not succeeded(one.exchange), one, expected=expected, observed=one.exchange)


def _is_genuine(retry: Retry) -> bool:
    return isinstance(retry.state, str) and not retry.is_forged and not retry.is_misplaced
