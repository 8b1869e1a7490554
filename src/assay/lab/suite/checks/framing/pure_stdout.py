"""Everything on standard output is a message on a line of its own, to the last byte."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.frame import Kind, Sender
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe

EXPECTED = "a JSON-RPC message on a line of its own"


@check("Nothing but messages on standard output", rows=("STD-02",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            is_message = isinstance(message.value, dict)
            observed = f"{message.body[:80]!r}: {message.problem}"
            yield observe("STD-02", is_message, message, expected=EXPECTED, observed=observed)
    for frame in trace.frames:
        unfinished = frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"
        # What ends with the stream is whole, though its newline is missing; what is no object is rubbish.
        if unfinished and not frame.raw.strip().startswith(b"{"):
            observed = f"{frame.raw[:80]!r} before the end"
            yield observe("STD-02", False, frame, expected=EXPECTED, observed=observed)
