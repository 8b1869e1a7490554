"""Where servers ask nothing, a client answers nothing."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED, STDIO_ONLY, Transport
from assay.lab.harness.verdict import Observation, observe

ROWS = {Transport.STDIO: "STD-06", Transport.HTTP: "HTTP-09"}


@check(
    "A client sends no responses",
    rows=tuple(ROWS.values()),
    everywhere=True,
    transports=(STDIO_ONLY | GUARDED) & ROWS.keys(),
)
def judge(trace: Trace) -> Iterator[Observation]:
    row = ROWS.get(Transport(trace.transport))
    for message in trace.received if row is not None else ():
        if message.fields and row is not None:
            expected = "a request or a notification"
            yield observe(row, not message.is_response, message, expected=expected, observed=message)
