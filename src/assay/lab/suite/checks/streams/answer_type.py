"""A request is answered with one JSON object or with an event stream."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.http_text import EVENT_STREAM, JSON
from assay.lab.harness.message import Shape
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check(
    "A request is answered as JSON or as an event stream",
    rows=("HTTP-12",),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if (
            call.head is not None
            and call.status == 200
            and Shape.REQUEST in {one.shape for one in call.asked}
        ):
            kind = call.head.media_type
            yield observe(
                "HTTP-12",
                kind in (JSON, EVENT_STREAM),
                call,
                expected=f"content-type {JSON} or {EVENT_STREAM}",
                observed=f"content-type {kind or 'missing'}",
            )
