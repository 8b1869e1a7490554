"""After each bad message the next good one is served."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_attempt import attempts

RECOVERS = "CONF-JRPC-03.recovers"


@profile_check("A server goes on after a bad message", rows=(RECOVERS,))
def judge(trace: Trace) -> Iterator[Observation]:
    for attempt in attempts(trace):
        if attempt.went_on is not None:
            expected = f"a result for the next good request, after {attempt.what}"
            yield observe(RECOVERS, attempt.went_on, attempt, expected=expected, observed=attempt.after)
