"""A version header that names no version is refused."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE


@check("A version header that names no version gets 400", rows=("HTTP-47",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        version = call.sent.get("mcp-protocol-version")
        if version is not None and version not in BY_DATE and call.head is not None:
            yield observe(
                "HTTP-47", call.status == 400, call, expected="status 400", observed=f"status {call.status}"
            )
