"""Error responses that match no request, and that no malformed message of the driver explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from assay.lab.harness.transport import Transport

from .message import Message, Shape, same_id
from .trace import Trace

_CHANNEL: Final = attrgetter("channel")
_CONNECTION: Final = attrgetter("connection")


def is_sound(message: Message) -> bool:
    """Whether a message is a request that every server can read, in particular its id. Members of a batch do
    not count: a server may reject the batch as a whole."""
    fields = message.fields
    return (
        message.shape is Shape.REQUEST
        and message.place is None
        and fields.get("jsonrpc") == "2.0"
        and type(message.id) in (int, str)
        and bool(message.method)
        and isinstance(fields.get("params", {}), dict)
    )


def is_notification(message: Message) -> bool:
    """Whether a message is a notification that every server can read, and must not answer."""
    fields = message.fields
    return (
        message.shape is Shape.NOTIFICATION
        and fields.get("jsonrpc") == "2.0"
        and bool(message.method)
        and isinstance(fields.get("params", {}), dict)
    )


def names_nothing(message: Message) -> bool:
    """Whether the id is missing, or null as JSON-RPC (but not the schema) requires in such an error."""
    return message.id is None


def unexplained_errors(trace: Trace) -> Iterator[Message]:
    """Errors that match no request of the driver, apart from one for each message that was not sound.

    The id of the error for an unreadable message is not judged; an error without such a message is.
    """
    owed: Counter[str] = Counter()
    sent: list[Message] = []
    # On HTTP an error belongs to a message of the same exchange, elsewhere of the same connection. Only HTTP
    # can reject a notification; one that is malformed is not a notification.
    refusable = trace.transport == Transport.HTTP
    place_of = _CHANNEL if refusable else _CONNECTION
    for message in trace.messages:
        place = place_of(message.frame)
        if not message.by_subject:
            sent.append(message)
            owed[place] += not is_sound(message) and (refusable or not _must_be_silent(message))
        elif message.shape is Shape.ERROR and not any(_names(message, request) for request in sent):
            if not owed[place]:
                yield message
            owed[place] = max(owed[place] - 1, 0)


def _must_be_silent(message: Message) -> bool:
    """Whether a server cannot refuse a message. It may refuse a batch as a whole."""
    return is_notification(message) and message.place is None


def _names(error: Message, request: Message) -> bool:
    """Whether an error has the id of a message on its connection. Responses cannot be answered."""
    if request.is_response or names_nothing(error):
        return False
    return request.frame.connection == error.frame.connection and same_id(request.id, error.id)
