"""Everything on standard output is a message on a line of its own, to the last byte."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.pure_line import EXPECTED, rubbish_at_the_end


@check("Nothing but messages on standard output", rows=("STD-02",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            is_message = isinstance(message.value, dict)
            observed = f"{message.body[:80]!r}: {message.problem}"
            yield observe("STD-02", is_message, message, expected=EXPECTED, observed=observed)
    yield from rubbish_at_the_end(trace, "STD-02")
