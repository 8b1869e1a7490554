"""A cancellation that comes too late does no harm: the conversation goes on as if it had not come."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.order import is_answered_before
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

HARMLESS = ("ping", "server/discover")
"""Requests that any server answers with a result."""


@check("A late cancellation does no harm", rows=("CAN-08",))
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.messages:
        if not message.by_subject and message.method == "notifications/cancelled":
            exchange = _completed(message, trace)
            if exchange is not None:
                yield from _judge(exchange, message, trace)


def _completed(cancellation: Message, trace: Trace) -> Exchange | None:
    """The request that was meant, if its answer was there before."""
    return next(
        (
            one
            for one in trace.exchanges()
            if one.request.frame.connection == cancellation.frame.connection
            and same_id(one.request.id, cancellation.params.get("requestId"))
            and is_answered_before(one, cancellation)
        ),
        None,
    )


def _judge(exchange: Exchange, cancellation: Message, trace: Trace) -> Iterator[Observation]:
    again = [one for one in exchange.answers if one.frame.n > cancellation.frame.n]
    expected = "no second answer to a request that was cancelled too late"
    yield observe(
        "CAN-08", not again, exchange, cancellation, expected=expected, observed="a second answer to it"
    )
    here = cancellation.frame
    later = (
        one
        for one in trace.exchanges(*HARMLESS)
        if one.request.frame.connection == here.connection and one.request.frame.n > here.n
    )
    following = next(later, None)
    if following is not None and (following.answer is not None or _was_awaited(following, trace)):
        yield observe(
            "CAN-08",
            following.result is not None,
            cancellation,
            following,
            expected="the next request answered as usual",
            observed=following,
        )


def _was_awaited(exchange: Exchange, trace: Trace) -> bool:
    """Whether the driver waited for the answer in vain, or was hung up on."""
    unanswered = any(same_id(mark.info.get("id"), exchange.request.id) for mark in trace.marks("no answer"))
    asked = exchange.request.frame
    hung_up = any(
        frame.kind in (Kind.END, Kind.EXIT) and frame.sender is Sender.SUBJECT and frame.n > asked.n
        for frame in trace.frames
        if frame.channel == asked.channel
    )
    return unanswered or hung_up
