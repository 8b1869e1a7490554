"""The first revision on HTTP: one endpoint for the stream, which names the other, for messages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import read_messages
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_SSE_ONLY
from assay.lab.harness.verdict import Observation, observe

ENDPOINT = "endpoint"
URI = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
NOT_HERE = (404, 405, 501)


@check(
    "A stream names its endpoint and carries messages",
    rows=("SSE-01", "SSE-02", "SSE-04"),
    transports=HTTP_SSE_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is None or call.sent.get("origin") is not None:
            continue
        served = call.status not in NOT_HERE and (call.sent.method == "POST" or call.is_stream)
        yield observe(
            "SSE-01",
            served,
            call,
            expected="an endpoint for the stream, and one that takes messages by POST",
            observed=f"status {call.status} for {call.sent.method}, {call.head.media_type or 'untyped'}",
        )
        if call.is_stream and call.events:
            yield from _names_endpoint(call)
            yield from _carries_messages(call)


def _names_endpoint(call: Call) -> Iterator[Observation]:
    first = call.events[0][1]
    told = first.data.decode("utf-8", "replace").strip()
    yield observe(
        "SSE-02",
        first.event == ENDPOINT and URI.fullmatch(told) is not None,
        call,
        expected="an `endpoint` event with a URI, first of all",
        observed=f"`{first.event}` with {told[:80]!r}",
    )


def _carries_messages(call: Call) -> Iterator[Observation]:
    for frame, event in call.events[1:]:
        if event.event == "message" or _is_message(frame, event.data):
            yield observe(
                "SSE-04",
                event.event == "message" and _is_message(frame, event.data),
                frame,
                expected="a `message` event with JSON as its data",
                observed=f"`{event.event}` with {event.data[:80]!r}",
            )


def _is_message(frame: Frame, data: bytes) -> bool:
    found = list(read_messages(frame, data))
    return bool(found) and all("jsonrpc" in message.fields for message in found)
