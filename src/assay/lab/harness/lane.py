"""Lanes: what has an order in itself, and none towards the rest.

On a channel that all messages share, answers to two requests come as they are ready: each is its own lane,
and so is the progress of each. Over HTTP, a driver's answers to questions are posts whose numbers are chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from .frame import Frame, Kind, Sender
from .message import Message, Shape
from .trace import SENTINEL, Trace

SHARED: Final = frozenset({Kind.LINE, Kind.TEXT})
CLOSING: Final = frozenset({Kind.CONTROL, Kind.END, Kind.EXIT})
LEFT: Final = "left"
"""The channel of the mark that says that a driver hung up before its last sentinel was answered."""

Said = dict[int, list[Message]]
"""Messages by the number of the frame that completes them."""


def said_in(trace: Trace) -> Said:
    said: Said = defaultdict(list)
    for message in trace.messages:
        said[message.frame.n].append(message)
    return said


def lane_of(frame: Frame, messages: Sequence[Message]) -> str:
    """Within a channel and direction."""
    if frame.sender is Sender.DRIVER or frame.kind not in SHARED:
        return "closing" if frame.kind in CLOSING and frame.channel.endswith(("/ws", "/lines")) else ""
    for message in messages:
        if message.is_response and message.id is not None:
            return f"answer to {message.id!r}"
        if message.method == "notifications/progress":
            return f"progress of {message.params.get('progressToken')!r}"
    return ""


def is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def is_answer(frame: Frame, messages: Sequence[Message]) -> bool:
    """Whether a request over HTTP only brings answers to what the subject asked."""
    return frame.kind is Kind.REQUEST and bool(messages) and all(one.is_response for one in messages)


def natural(channel: str) -> tuple[int, int, str]:
    """`1/post-10` comes after `1/get-9`, and `1/lines` before both."""
    connection, _, stream = channel.partition("/")
    name, _, number = stream.rpartition("-")
    counted = number.isdecimal() and bool(name)
    first = int(connection) if connection.isdecimal() else 0
    return first, int(number) if counted else 0, name if counted else stream


def renamed_channels(trace: Trace, said: Said) -> dict[str, str]:
    """HTTP channels counted anew, without sentinels; answers are counted as the questions are."""
    asked = _questions(trace)
    opened: dict[str, Frame] = {}
    for frame in trace.frames:
        if frame.kind is Kind.REQUEST and not frame.channel.endswith("/ws"):
            opened.setdefault(frame.channel, frame)
    counts: dict[str, int] = defaultdict(int)
    names: dict[str, str] = {}
    for channel in sorted(opened, key=natural):
        frame = opened[channel]
        if is_answer(frame, said[frame.n]):
            number = asked.get(repr(said[frame.n][0].id), 0)
            names[channel] = f"{frame.connection}/answer-{number}"
        elif not any(map(is_sentinel, said[frame.n])):
            counts[frame.connection] += 1
            kind = channel.partition("/")[2].rpartition("-")[0]
            names[channel] = f"{frame.connection}/{kind}-{counts[frame.connection]}"
    return names


def _questions(trace: Trace) -> dict[str, int]:
    """What the subject asked, numbered by channel and place."""
    asked = [one for one in trace.received if one.shape is Shape.REQUEST]
    asked.sort(key=lambda one: (natural(one.frame.channel), one.frame.n))
    return {repr(message.id): number for number, message in enumerate(asked, 1)}


def left_early(trace: Trace) -> Iterator[str]:
    """Connections on which a sentinel was not answered: what would have come before that is not known."""
    waiting = {
        one.request.frame.connection: one
        for one in trace.all_exchanges
        if is_sentinel(one.request) and not one.answers
    }
    yield from sorted(waiting)
