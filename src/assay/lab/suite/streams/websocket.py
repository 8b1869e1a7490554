"""Messages on a WebSocket."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.lab.harness import FaultContext, Json, Observation, Trace, check, observe, on_reply
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import read_messages
from assay.lab.harness.transport import WEBSOCKET_ONLY

# --- how it is judged


@check(
    "Each text on a WebSocket is a JSON-RPC message",
    requirements=("STD-14",),
    everywhere=True,
    transports=WEBSOCKET_ONLY,
)
def judge_socket_messages(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.TEXT and frame.sender is Sender.SUBJECT:
            found = list(read_messages(frame, frame.raw))
            yield observe(
                "STD-14",
                bool(found) and all("jsonrpc" in message.fields for message in found),
                frame,
                expected="a JSON-RPC message, and nothing else",
                observed=f"{frame.raw[:80]!r}",
            )


# --- what the checks must catch


@on_reply("messages are wrapped in an event", breaks="STD-14", transports=WEBSOCKET_ONLY)
def socket_envelope(reply: Json, context: FaultContext) -> list[object]:
    return [{"event": "message", "data": reply}, reply]


@on_reply("a greeting comes before the first message", breaks="STD-14", transports=WEBSOCKET_ONLY)
def socket_greeting(reply: Json, context: FaultContext) -> list[object]:
    greeted = context.memory.setdefault("greeted", [])
    greeted.append(True)
    return [b"connected", reply] if len(greeted) == 1 else [reply]


LOGGED = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'


@on_reply("one text holds two messages", breaks="STD-14", transports=WEBSOCKET_ONLY)
def socket_lines(reply: Json, context: FaultContext) -> list[object]:
    twice = context.method in ("ping", "server/discover")
    return [LOGGED + b"\n" + msgspec.json.encode(reply), reply] if twice else [reply]
