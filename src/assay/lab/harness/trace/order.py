"""The order in which a subject sent its messages.

On one channel the order of frames is decisive. Messages on two HTTP responses may overtake each other: there,
a message is later than another only if the driver sent a request in between and the subject answered it in
between, or if the message came on the response to such a request.
"""

from __future__ import annotations

from .frame import Kind
from .message import Message
from .trace import Exchange, Trace


def is_later(message: Message, earlier: Message, trace: Trace) -> bool:
    """Whether the subject certainly sent `message` after `earlier`."""
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
    """The driver's requests that a message may belong to: on HTTP the request of the same response, elsewhere
    all unanswered requests."""
    return [
        exchange
        for exchange in trace.exchanges()
        if _may_concern(exchange, message) and not is_answered_before(exchange, message)
    ]


def _may_concern(exchange: Exchange, message: Message) -> bool:
    request, frame = exchange.request.frame, message.frame
    reachable = request.channel == frame.channel or request.kind is not Kind.REQUEST
    return reachable and request.connection == frame.connection and request.n < frame.n


def is_answered_before(exchange: Exchange, message: Message) -> bool:
    return exchange.answer is not None and exchange.answer.frame.n < message.frame.n
