"""On a transport of somebody's own, messages and their order are as everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import FIRST, describes_itself
from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import WEBSOCKET_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Opening

ROW = "STD-14"


@check(
    "A custom transport keeps format and lifecycle", rows=(ROW,), everywhere=True, transports=WEBSOCKET_ONLY
)
def judge(trace: Trace) -> Iterator[Observation]:
    for frame in trace.frames:
        if frame.kind is Kind.BINARY and frame.sender is Sender.SUBJECT:
            yield observe(ROW, False, frame, expected="messages as text", observed="a binary message")
    greeted: set[str] = set()
    for message in trace.received:
        first = message.frame.connection not in greeted
        greeted.add(message.frame.connection)
        problem = _problem(message, first, trace.revision.opening)
        expected = "a JSON-RPC message in the order of the revision"
        yield observe(ROW, problem is None, message, expected=expected, observed=problem)


def _problem(message: Message, first: bool, opening: Opening) -> str | None:
    if message.shape is Shape.UNKNOWN or message.fields.get("jsonrpc") != "2.0":
        return f"{message.body[:80]!r}"
    described = describes_itself(message)
    if opening is Opening.PER_REQUEST:
        lacks = message.shape is Shape.REQUEST and not described and message.method != FIRST
        return f"{message} without its metadata" if lacks else None
    early = first and not described and message.method not in (FIRST, "ping")
    return f"{message} before the handshake" if early else None
