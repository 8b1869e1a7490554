"""Errors that name no request, and whether something that the driver sent on purpose explains them."""

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
    """Whether it is a request that every server can read, its id above all. A batch may be refused as one."""
    fields = message.fields
    return (
        message.shape is Shape.REQUEST
        and message.place is None
        and fields.get("jsonrpc") == "2.0"
        and type(message.id) in (int, str)
        and bool(message.method)
        and isinstance(fields.get("params", {}), dict)
    )


def names_nothing(message: Message) -> bool:
    """Whether it has no id; null, which JSON-RPC wants in an error and the schema does not, is none."""
    return message.id is None


def unexplained_errors(trace: Trace) -> Iterator[Message]:
    """Errors that belong to no request that was sent, beyond one for each message that was no sound request.

    What an error to an unreadable message is called is left open; that it comes without one is not.
    """
    owed: Counter[str] = Counter()
    asked: list[Message] = []
    # An answer belongs to a message within one HTTP exchange, elsewhere within one connection. And only
    # HTTP has a way to refuse a notification.
    refusable = trace.transport == Transport.HTTP
    place_of = _CHANNEL if refusable else _CONNECTION
    for message in trace.messages:
        place = place_of(message.frame)
        if not message.by_subject:
            asked.append(message)
            owed[place] += not is_sound(message) and (refusable or message.shape is not Shape.NOTIFICATION)
        elif message.shape is Shape.ERROR and not any(_names(message, one) for one in asked):
            if not owed[place]:
                yield message
            owed[place] = max(owed[place] - 1, 0)


def _names(error: Message, asked: Message) -> bool:
    """Whether an error names that message; one that is a response itself cannot be answered."""
    mine = asked.frame.connection == error.frame.connection
    return mine and not asked.is_response and not names_nothing(error) and same_id(asked.id, error.id)
