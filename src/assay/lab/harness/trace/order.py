"""What a subject sent before what, and during what.

On one channel the order of frames tells. Messages on two HTTP responses may overtake each other on their way:
there, one is later than another only if the driver asked for something in between and that was answered in
between, or if it came on the response to such a request.
"""

from __future__ import annotations

from .frame import Kind
from .message import Message
from .trace import Exchange, Trace


def is_later(message: Message, earlier: Message, trace: Trace) -> bool:
    """Whether the subject has surely sent one message after another."""
    begin, end = earlier.frame, message.frame
    if end.n <= begin.n:
        return False
    return end.channel == begin.channel or any(
        exchange.request.frame.n > begin.n
        and (exchange.request.frame.channel == end.channel or is_answered_before(exchange, message))
        for exchange in trace.exchanges()
        if exchange.request.frame.connection == end.connection
    )


def open_requests(message: Message, trace: Trace) -> list[Exchange]:
    """The driver's requests that a message may belong to: on HTTP the one that its response carries,
    elsewhere all that were not answered yet."""
    return [
        exchange
        for exchange in trace.exchanges()
        if _may_concern(exchange, message) and not is_answered_before(exchange, message)
    ]


def _may_concern(exchange: Exchange, message: Message) -> bool:
    asked, said = exchange.request.frame, message.frame
    reachable = asked.channel == said.channel or asked.kind is not Kind.REQUEST
    return reachable and asked.connection == said.connection and asked.n < said.n


def is_answered_before(exchange: Exchange, message: Message) -> bool:
    return exchange.answer is not None and exchange.answer.frame.n < message.frame.n
