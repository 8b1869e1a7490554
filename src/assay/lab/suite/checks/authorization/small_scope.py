"""Whoever may come in, but not do this, is told what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import WEAK
from assay.lab.harness.trace.admission import calls_with, told
from assay.lab.harness.trace.challenge import HEADER, METADATA, Challenge, bearer_challenge
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ERROR: Final = "insufficient_scope"
EXPECTED: Final = f'Bearer error="{ERROR}" with scope and {METADATA}'


@check("Too small a scope gets 403 and a challenge", rows=("AU-06", "AU-69"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, WEAK):
        if call.head is None or call.status not in (401, 403):
            continue  # it was allowed, or refused for a reason of its own
        yield observe("AU-06", call.status == 403, call, expected="status 403", observed=told(call))
        seen = ", ".join(call.head.all(HEADER)) or "no challenge"
        full = call.status == 403 and _is_full(bearer_challenge(call.head))
        yield observe("AU-69", full, call, expected=EXPECTED, observed=seen)


def _is_full(challenge: Challenge | None) -> bool:
    if challenge is None or challenge.params.get("error") != ERROR:
        return False
    return bool(challenge.scopes) and bool(challenge.params.get(METADATA))
