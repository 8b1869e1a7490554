"""Whoever shows no token is told that one is needed."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.trace.admission import calls_with, is_opening, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED
from assay.lab.harness.verdict import Observation, observe


@check("A request without a token gets 401", rows=("AU-05",), transports=GUARDED)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if is_opening(call):
            yield observe("AU-05", call.status == 401, call, expected="status 401", observed=told(call))
