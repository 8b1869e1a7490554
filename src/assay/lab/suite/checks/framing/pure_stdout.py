"""Every line on standard output is one message, whatever its method."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.frame import Kind
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("Nothing but messages on standard output", rows=("STD-02",), everywhere=True, transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            is_message = isinstance(message.value, dict | list)
            yield observe(
                "STD-02",
                is_message,
                message,
                expected="a JSON-RPC message on a line of its own",
                observed=f"{message.body[:80]!r}: {message.problem}",
            )
