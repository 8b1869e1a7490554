"""A result that does not fit the schema of its tool is not taken."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

MISFIT = "misfit"


@check("Structured results are held against their schema", rows=("TL-16",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in [one for one in calls_of(trace, MISFIT) if one.answer is not None][:1]:
        later = calls_of(trace, AFTER)
        if later or is_over(trace):
            expected = "an error for a result that does not fit its schema"
            observed = "the next step, as if all was well"
            yield observe("TL-16", not later, exchange, *later[:1], expected=expected, observed=observed)
