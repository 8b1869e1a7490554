"""HTTP+SSE with its two endpoints, and WebSocket."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_block,
    on_call,
    on_reply,
    scenario,
)
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import read_messages
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_SSE_ONLY, WEBSOCKET_ONLY

# --- what is asked


@scenario("Send a request over HTTP+SSE", transports=HTTP_SSE_ONLY)
async def drive_two_endpoints(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)


# --- how it is judged


URI: Final = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
NOT_OFFERED: Final = (404, 405, 501)


@check(
    "A stream names the endpoint for messages and carries messages",
    requirements=("SSE-01", "SSE-02", "SSE-04"),
    transports=HTTP_SSE_ONLY,
)
def judge_two_endpoints(trace: Trace) -> Iterator[Observation]:
    expected = "an endpoint for the stream, and one that accepts messages by POST"
    for call in trace.calls:
        if call.head is None or call.sent.get("origin") is not None:
            continue
        served = call.status not in NOT_OFFERED and (call.sent.method == "POST" or call.is_stream)
        observed = f"status {call.status} for {call.sent.method}, {call.head.media_type or 'untyped'}"
        yield observe("SSE-01", served, call, expected=expected, observed=observed)
        if call.is_stream and call.events:
            yield from _judge_events(call)


def _judge_events(call: Call) -> Iterator[Observation]:
    (_, first), *others = call.events
    address = first.data.decode("utf-8", "replace").strip()
    named = first.event == "endpoint" and URI.fullmatch(address) is not None
    expected, observed = "first an `endpoint` event with a URI", f"`{first.event}` with {address[:80]!r}"
    yield observe("SSE-02", named, call, expected=expected, observed=observed)
    for frame, event in others:
        typed, valid = event.event == "message", _is_message(frame, event.data)
        if typed or valid:
            expected = "a `message` event with a JSON-RPC message as data"
            observed = f"`{event.event}` with {event.data[:80]!r}"
            yield observe("SSE-04", typed and valid, frame, expected=expected, observed=observed)


def _is_message(frame: Frame, data: bytes) -> bool:
    messages = list(read_messages(frame, data))
    return bool(messages) and all("jsonrpc" in message.fields for message in messages)


@check(
    "Each text on a WebSocket is a JSON-RPC message",
    requirements={"STD-14": "A text on the WebSocket is not a JSON-RPC message"},
    everywhere=True,
    transports=WEBSOCKET_ONLY,
)
def judge_socket_messages(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.TEXT and frame.sender is Sender.SUBJECT:
            valid, observed = _is_message(frame, frame.raw), repr(frame.raw[:80])
            yield observe("STD-14", valid, frame, expected="only a JSON-RPC message", observed=observed)


# --- what the checks must catch


@on_call("refuses notifications on the endpoint for messages", breaks="SSE-01", transports=HTTP_SSE_ONLY)
def no_post_for_notifications(request: Request, context: FaultContext) -> Response | None:
    return Response([], 405) if context.request is not None and "id" not in context.request else None


@on_block("sends an object in the `endpoint` event", breaks="SSE-02", transports=HTTP_SSE_ONLY, silent=True)
def endpoint_as_object(block: bytes, context: FaultContext) -> bytes:
    if not block.startswith(b"event: endpoint"):
        return block
    return b'event: endpoint\ndata: {"uri": "/messages"}\n\n'


@on_block("sends an event before `endpoint`", breaks="SSE-02", transports=HTTP_SSE_ONLY)
def greets_first(block: bytes, context: FaultContext) -> bytes:
    hello = b"event: connected\ndata: welcome\n\n"
    return hello + block if block.startswith(b"event: endpoint") else block


@on_block("sends a heartbeat as a message", breaks="SSE-04", transports=HTTP_SSE_ONLY)
def beats_in_messages(block: bytes, context: FaultContext) -> bytes:
    return block + b"data: ping\n\n"


@on_block("sends a response in a `response` event", breaks="SSE-04", transports=HTTP_SSE_ONLY, silent=True)
def events_by_kind(block: bytes, context: FaultContext) -> bytes:
    return block.replace(b"event: message", b"event: response")


@on_reply("wraps messages in an event", breaks="STD-14", transports=WEBSOCKET_ONLY)
def socket_envelope(reply: Json, context: FaultContext) -> list[object]:
    return [{"event": "message", "data": reply}, reply]


@on_reply("sends a greeting before the first message", breaks="STD-14", transports=WEBSOCKET_ONLY)
def socket_greeting(reply: Json, context: FaultContext) -> list[object]:
    context.memory["sent"] = context.memory.get("sent", 0) + 1
    return [b"connected", reply] if context.memory["sent"] == 1 else [reply]


LOG: Final = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'


@on_reply("sends two messages in one text", breaks="STD-14", transports=WEBSOCKET_ONLY)
def socket_lines(reply: Json, context: FaultContext) -> list[object]:
    twice = context.method in ("ping", "server/discover")
    return [LOG + b"\n" + msgspec.json.encode(reply), reply] if twice else [reply]
