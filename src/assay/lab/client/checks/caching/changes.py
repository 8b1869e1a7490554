"""A notification of a change ends what was kept."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

CHANGED = "notifications/tools/list_changed"


@check("A change ends what was kept", rows=("CA-12",))
def judge(trace: Trace) -> Iterator[Observation]:
    told = [one for one in trace.messages if not one.by_subject and one.method == CHANGED]
    listed = list(trace.inquiries("tools/list"))
    for change in told[:1]:
        before = [one for one in listed if one.request.frame.n < change.frame.n]
        later = [one for one in listed if one.request.frame.n > change.frame.n]
        if before and (later or is_over(trace)):
            expected, observed = "the list to be fetched again after a change", "it was not"
            yield observe(
                "CA-12", bool(later), before[-1], change, *later[:1], expected=expected, observed=observed
            )
