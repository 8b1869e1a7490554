"""Everything that a client writes to its server is a message on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.pure_line import EXPECTED, rubbish_at_the_end
from assay.revisions.revision import Batching


@check("Nothing but messages goes to the server", rows=("STD-03",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            alone = message.place is None or batches
            right = bool(message.method or message.is_response or "id" in message.fields) and alone
            observed = f"{message.body[:80]!r}: {message.problem or 'no message'}"
            yield observe("STD-03", right, message, expected=EXPECTED, observed=observed)
    yield from rubbish_at_the_end(trace, "STD-03")
