"""A server cancels only what it asked itself, or, where it asks nothing, the listen streams that it ends."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Asking

CANCELLED = "notifications/cancelled"
LISTEN = "subscriptions/listen"


@check("A server cancels only what is its own", rows=("CAN-01", "CAN-12", "CAN-13"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    asks = trace.revision.asking is Asking.BY_REQUEST
    row, own = ("CAN-01", _asked_itself) if asks else ("CAN-13", _listening)
    for message in trace.received:
        if message.method == CANCELLED:
            yield observe(
                row,
                own(message, trace),
                message,
                expected="a request of its own" if asks else "a listen stream that it ends",
                observed=f"cancelled {message.params.get('requestId')!r}",
            )
    for probe in trace.probes("cancellation"):
        if not any(one.method == CANCELLED for one in probe.received):
            yield observe(row, True, probe, expected="no cancellation in return", observed="none")
    yield from _ends(trace)


def _asked_itself(message: Message, trace: Trace) -> bool:
    return any(
        one.shape is Shape.REQUEST
        and one.frame.connection == message.frame.connection
        and same_id(one.id, message.params.get("requestId"))
        for one in trace.received
        if one.frame.n < message.frame.n
    )


def _listening(message: Message, trace: Trace) -> bool:
    return any(
        same_id(one.request.id, message.params.get("requestId"))
        for one in trace.exchanges(LISTEN)
        if one.request.frame.connection == message.frame.connection
    )


def _ends(trace: Trace) -> Iterator[Observation]:
    """Listen streams that the server closed in order, having served them. Either way to say so is good."""
    for call in trace.calls:
        listening = [one for one in call.asked if one.method == LISTEN]
        ended = any(frame.kind is Kind.END and frame.info.get("clean") is True for frame in call.received)
        if listening and call.is_stream and ended and call.messages:
            told = any(one.method == CANCELLED or one.is_response for one in call.messages)
            expected = "`notifications/cancelled` or a result before a listen stream ends"
            yield observe("CAN-12", told, call, expected=expected, observed="it ended without a word")
