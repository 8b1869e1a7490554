"""What a client cancels."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import FIRST
from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

OWN, OWN_NEWER, OPENING = "CAN-01", "CAN-02", "CAN-04"


@check("A client cancels what it asked for", rows=(OWN, OWN_NEWER, OPENING), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method != "notifications/cancelled":
            continue
        asked = _asked(trace, message)
        expected = "a request of the client that is not answered yet"
        observed = f"requestId {message.params.get('requestId')!r}"
        for row in (OWN, OWN_NEWER):
            yield observe(row, asked is not None, message, expected=expected, observed=observed)
        if asked is not None:
            expected = "no cancellation of the handshake"
            holds = asked.method != FIRST
            yield observe(OPENING, holds, message, asked, expected=expected, observed="one")


def _asked(trace: Trace, message: Message) -> Exchange | None:
    """What it names, unless that was surely done: an answer may have been on its way."""
    number = message.params.get("requestId")
    for one in trace.inquiries():
        before = one.request.frame.n < message.frame.n
        if before and same_id(one.request.id, number) and not _is_long_done(trace, one, message):
            return one
    return None


def _is_long_done(trace: Trace, exchange: Exchange, message: Message) -> bool:
    """Whether the client has asked for something else between the answer and the cancellation."""
    if exchange.answer is None:
        return False
    done = exchange.answer.frame.n
    return any(done < one.request.frame.n < message.frame.n for one in trace.inquiries())
