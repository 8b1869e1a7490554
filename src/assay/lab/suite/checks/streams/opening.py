"""How an event stream begins."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import requests


@check(
    "A stream begins as it should: with an id, and past buffers",
    rows=("HTTP-23", "HTTP-63"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if not call.is_stream or call.head is None or not requests(call):
            continue
        said = call.head.get("x-accel-buffering")
        yield observe(
            "HTTP-63", said == "no", call, expected="X-Accel-Buffering: no", observed=said or "no such header"
        )
        if call.events:
            first = call.events[0][1]
            yield observe(
                "HTTP-23",
                first.event_id is not None and not first.data,
                call,
                expected="a first event with an id and empty data",
                observed=f"id {first.event_id}, {len(first.data)} bytes of data",
            )
