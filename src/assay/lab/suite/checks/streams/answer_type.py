"""A request is answered with one JSON object or with an event stream."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import requests


@check(
    "A request is answered as JSON or as an event stream",
    rows=("HTTP-12",),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is not None and 200 <= call.status < 300 and requests(call):
            kind = call.head.media_type
            yield observe(
                "HTTP-12",
                kind == EVENT_STREAM or (kind == JSON and _is_one(call)),
                call,
                expected=f"one object as {JSON}, or {EVENT_STREAM}",
                observed=f"status {call.status}, {kind or 'no content-type'}, {len(call.messages)} messages",
            )


def _is_one(call: Call) -> bool:
    if any(message.place is not None for message in call.asked):
        return True  # a batch is answered as its own rules say
    return len(call.messages) == 1 and call.messages[0].problem is None and call.messages[0].place is None
