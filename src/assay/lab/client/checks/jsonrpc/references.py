"""Schemas that refer to the network are not fetched."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of, visits
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROOM = "schemas"


@check("References to the network are not followed", rows=("JS-07", "TL-29"))
def judge(trace: Trace) -> Iterator[Observation]:
    fetched, after = visits(trace, ROOM), calls_of(trace, AFTER)
    if fetched or after:
        observed = ", ".join(one.sent.target for one in fetched)
        for row in ("JS-07", "TL-29"):
            expected = "no request for a schema that is referred to"
            yield observe(row, not fetched, *fetched, *after[:1], expected=expected, observed=observed)
