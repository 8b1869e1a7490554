"""A server whose standard input ends, ends."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("The process exits when its input ends", rows=("STD-12",), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    exits = [one for one in trace.frames if one.kind is Kind.EXIT]
    waited = {mark.connection: mark for mark in trace.marks("still running")}
    for end in trace.frames:
        if end.kind is not Kind.END or end.sender is not Sender.DRIVER:
            continue
        gone = next((one for one in exits if one.channel == end.channel and one.n > end.n), None)
        running = waited.get(end.connection)
        if gone is not None or running is not None:
            seconds = "" if running is None else running.info.get("waited")
            yield observe(
                "STD-12",
                gone is not None,
                end,
                *filter(None, (gone, running)),
                expected="the end of the process",
                observed=f"still running after {seconds} s",
            )
