"""Everything that a client writes to its server is a message on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.frame import Kind, Sender
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Batching

EXPECTED = "a JSON-RPC message on a line of its own"


@check("Nothing but messages goes to the server", rows=("STD-03",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            alone = message.place is None or batches
            right = bool(message.method or message.is_response or "id" in message.fields) and alone
            observed = f"{message.body[:80]!r}: {message.problem or 'no message'}"
            yield observe("STD-03", right, message, expected=EXPECTED, observed=observed)
    for frame in trace.frames:
        unfinished = frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"
        if unfinished and not frame.raw.strip().startswith(b"{"):
            observed = f"{frame.raw[:80]!r} before the end"
            yield observe("STD-03", False, frame, expected=EXPECTED, observed=observed)
