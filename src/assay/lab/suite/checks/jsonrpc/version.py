"""Every message says that it is JSON-RPC 2.0."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Every message says that it is JSON-RPC 2.0", rows=("BASE-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.fields:
            said = message.fields.get("jsonrpc")
            yield observe(
                "BASE-01", said == "2.0", message, expected='jsonrpc is "2.0"', observed=f"{said!r}"
            )
