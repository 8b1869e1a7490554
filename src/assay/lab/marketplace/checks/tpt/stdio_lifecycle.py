"""A process ends with its input, and when it is asked to."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.links.stdio import TERMINATED
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.stdio.lifecycle"


@profile_check("The end of a process", rows=(ROW,), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.END and frame.sender is Sender.DRIVER:
            yield from _ended(trace, frame, "after its input has ended")
    for mark in trace.marks(TERMINATED):
        yield from _ended(trace, mark, "after SIGTERM")


def _ended(trace: Trace, asked: Frame, when: str) -> Iterator[Observation]:
    later = [one for one in trace.frames[asked.n :] if one.connection == asked.connection]
    gone = next((one for one in later if one.kind is Kind.EXIT), None)
    running = next((one for one in trace.marks("still running") if one in later), None)
    if gone is not None or running is not None:
        waited = "" if running is None else running.info.get("waited")
        yield observe(
            ROW,
            gone is not None,
            asked,
            *filter(None, (gone, running)),
            expected=f"the end of the process {when}",
            observed=f"still running after {waited} s",
        )
