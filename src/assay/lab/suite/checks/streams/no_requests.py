"""Where servers ask by results, no request comes on a stream."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("No request comes on a stream", rows=("HTTP-62",), everywhere=True, transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.is_stream:
            asked = [message for message in call.messages if message.shape is Shape.REQUEST]
            observed = asked[0] if asked else "none"
            yield observe("HTTP-62", not asked, call, expected="no JSON-RPC request", observed=observed)
