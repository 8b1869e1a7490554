"""On a WebSocket, each text is one JSON-RPC message."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import read_messages
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import WEBSOCKET_ONLY
from assay.lab.harness.verdict import Observation, observe


@check(
    "Each text on a WebSocket is a JSON-RPC message",
    rows=("STD-14",),
    everywhere=True,
    transports=WEBSOCKET_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
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
