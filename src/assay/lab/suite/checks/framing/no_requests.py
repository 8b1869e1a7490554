"""Where clients alone send requests, a server writes none."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("No requests on standard output", rows=("STD-07",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.fields:
            asks = message.shape is Shape.REQUEST
            expected = "a response or a notification"
            yield observe("STD-07", not asks, message, expected=expected, observed=message)
