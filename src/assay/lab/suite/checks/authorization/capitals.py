"""Scheme and host of an address mean the same in capitals."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import CAPITALS
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED
from assay.lab.harness.verdict import Observation, observe


@check("An audience with scheme and host in capitals is taken", rows=("AU-60",), transports=GUARDED)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, CAPITALS):
        yield observe("AU-60", is_let_in(call), call, expected="to be let in", observed=told(call))
