"""HTTP+SSE, the two endpoints of the first revision."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_block,
    on_call,
    scenario,
)
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import read_messages
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_SSE_ONLY

# --- what is asked


@scenario("Two endpoints", exercises=("streams.two-endpoints",), transports=HTTP_SSE_ONLY)
async def drive_two_endpoints(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)


# --- how it is judged


ENDPOINT = "endpoint"
URI = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
NOT_HERE = (404, 405, 501)


@check(
    "A stream names its endpoint and carries messages",
    requirements=("SSE-01", "SSE-02", "SSE-04"),
    transports=HTTP_SSE_ONLY,
)
def judge_two_endpoints(trace: Trace) -> Iterator[Observation]:
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


# --- what the checks must catch


@on_call("the endpoint for messages gets no POST of notifications", breaks="SSE-01", transports=HTTP_SSE_ONLY)
def no_post_for_notifications(request: Request, context: FaultContext) -> Response | None:
    return Response([], 405) if context.request is not None and "id" not in context.request else None


@on_block("the `endpoint` event holds an object", breaks="SSE-02", transports=HTTP_SSE_ONLY, silent=True)
def endpoint_as_object(block: bytes, context: FaultContext) -> bytes:
    if not block.startswith(b"event: endpoint"):
        return block
    return b'event: endpoint\ndata: {"uri": "/messages"}\n\n'


@on_block("something comes before the `endpoint` event", breaks="SSE-02", transports=HTTP_SSE_ONLY)
def greets_first(block: bytes, context: FaultContext) -> bytes:
    hello = b"event: connected\ndata: welcome\n\n"
    return hello + block if block.startswith(b"event: endpoint") else block


@on_block("a heartbeat is sent as a message", breaks="SSE-04", transports=HTTP_SSE_ONLY)
def beats_in_messages(block: bytes, context: FaultContext) -> bytes:
    return block + b"data: ping\n\n"


@on_block("a response is an event of type `response`", breaks="SSE-04", transports=HTTP_SSE_ONLY, silent=True)
def events_by_kind(block: bytes, context: FaultContext) -> bytes:
    return block.replace(b"event: message", b"event: response")
