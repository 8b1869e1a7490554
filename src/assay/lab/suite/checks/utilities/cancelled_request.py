"""A request that its client has cancelled is not answered, if the cancellation came in time."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.order import is_answered_before
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe


@check("A cancelled request is not answered", rows=("CAN-06",))
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.messages:
        if message.by_subject or message.method != "notifications/cancelled":
            continue
        exchange = _cancelled(message, trace)
        if exchange is not None and _can_be_known(exchange):
            yield from _judge(exchange, message, trace)


def _judge(exchange: Exchange, cancellation: Message, trace: Trace) -> Iterator[Observation]:
    alike = [one for one in _alike(exchange, trace) if one.result is not None]
    answer = exchange.answer
    if answer is None:
        # One like it, begun later, was answered since: this one would have been too.
        done = any(one.answer is not None and _was_settled(one.answer, trace) for one in alike)
        holds = True if done else None
    elif _was_heard(cancellation, answer, trace):
        holds = False
    else:
        # Too fast to tell, unless the answer is about the cancellation itself.
        holds = False if answer.shape is Shape.ERROR and alike else None
    if holds is not None:
        yield observe(
            "CAN-06",
            holds,
            exchange,
            cancellation,
            expected="no response to a request that was cancelled (unless it cannot be)",
            observed=exchange,
        )


def _cancelled(cancellation: Message, trace: Trace) -> Exchange | None:
    """The request that was meant, if it was sent and not answered before."""
    return next(
        (
            one
            for one in trace.exchanges()
            if one.request.frame.connection == cancellation.frame.connection
            and one.request.frame.n < cancellation.frame.n
            and same_id(one.request.id, cancellation.params.get("requestId"))
            and not is_answered_before(one, cancellation)
        ),
        None,
    )


def _can_be_known(exchange: Exchange) -> bool:
    """Over HTTP a cancellation finds its request by the session."""
    frame = exchange.request.frame
    return frame.kind is not Kind.REQUEST or parse_head(frame.raw).get("mcp-session-id") is not None


def _alike(exchange: Exchange, trace: Trace) -> Iterator[Exchange]:
    """Requests for the same, sent while this one ran."""
    for one in trace.exchanges(exchange.method):
        later = one.request.frame.n > exchange.request.frame.n
        same = one.params.get("name") == exchange.params.get("name")
        if later and same and one.request.frame.connection == exchange.request.frame.connection:
            yield one


def _was_heard(cancellation: Message, answer: Message, trace: Trace) -> bool:
    """Whether something that was asked after the cancellation was answered before this answer came."""
    return any(
        one.request.frame.n > cancellation.frame.n and is_answered_before(one, answer)
        for one in trace.exchanges()
        if one.request.frame.connection == cancellation.frame.connection
    )


def _was_settled(answer: Message, trace: Trace) -> bool:
    """Whether something that was asked after this answer was answered too."""
    return any(
        one.request.frame.n > answer.frame.n and one.answer is not None
        for one in trace.exchanges()
        if one.request.frame.connection == answer.frame.connection
    )
