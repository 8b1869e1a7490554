"""How the client's process ends."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.scripted_server.client_run import SETTING, TIMED_OUT
from assay.lab.harness.subject.process import how_it_ended
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

IN_TIME, ALIVE, WELL = "CLIENT-01", "CLIENT-02", "CLIENT-03"


@check("The client ends by itself, and well", rows=(IN_TIME, ALIVE, WELL), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(TIMED_OUT):
        yield observe(IN_TIME, False, mark, expected="the client to end by itself", observed="it was stopped")
    may_fail = any(mark.info.get("may_fail") for mark in trace.marks(SETTING))
    for frame in (one for one in trace.frames if one.kind is Kind.EXIT):
        status = frame.info.get("status")
        if not isinstance(status, int):
            continue
        told = how_it_ended(status)
        yield observe(IN_TIME, True, frame, expected="", observed="")
        yield observe(ALIVE, status >= 0, frame, expected="no death by a signal", observed=told)
        if status >= 0 and not may_fail:
            yield observe(WELL, status == 0, frame, expected="exit status 0", observed=told)
