"""Servers that hang up, or end, in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import is_over
from assay.lab.harness.check import check
from assay.lab.harness.scripted_server.client_run import TIMED_OUT
from assay.lab.harness.subject.process import how_it_ended
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ENDS, BOUNDED = "HOSTILE-17", "HOSTILE-07"
MOST: Final = 50
"""Requests in a scenario that has room for three."""


@check("Who is hung up on goes on, or ends", rows=(ENDS, BOUNDED))
def judge(trace: Trace) -> Iterator[Observation]:
    expected = "the client to end by itself"
    for mark in trace.marks(TIMED_OUT):
        yield observe(ENDS, False, mark, expected=expected, observed="it was stopped")
    for frame in (one for one in trace.frames if one.kind is Kind.EXIT):
        status = frame.info.get("status")
        if isinstance(status, int):
            yield observe(ENDS, status >= 0, frame, expected=expected, observed=how_it_ended(status))
    made = list(trace.inquiries())
    if made and (is_over(trace) or len(made) > MOST):
        expected, observed = f"at most {MOST} requests", f"{len(made)} of them"
        yield observe(BOUNDED, len(made) <= MOST, *made[-2:], expected=expected, observed=observed)
