"""Lanes: what has an order in itself, and none towards the rest.

On a channel that all messages share, answers to two requests come as they are ready: each is its own lane,
and so is the progress of each. Over HTTP, a driver's answers to questions are posts whose numbers are chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from json import dumps
from typing import Final

from assay.lab.harness.trace.frame import Frame, Kind, Sender, stream_of
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import SENTINEL, Trace

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


def asker_of(trace: Trace) -> Sender:
    """Who leads the conversation: the side that is, or plays, the client."""
    return Sender.SUBJECT if trace.header.role == "client" else Sender.DRIVER


def lane_of(frame: Frame, messages: Sequence[Message], steady: Sender | None = Sender.DRIVER) -> str:
    """Within a channel and direction; the `steady` side, if any, has one order for all that it says."""
    if frame.sender is steady or frame.kind not in SHARED:
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


def natural(channel: str) -> tuple[int, int, str, str]:
    """`1/post-10` comes after `1/get-9`, and `1/lines` before both."""
    connection, _, stream = channel.partition("/")
    name, _, number = stream.rpartition("-")
    counted = number.isdecimal() and bool(name)
    first = int(connection) if connection.isdecimal() else 0
    return first, int(number) if counted else 0, name if counted else stream, connection


def renamed_channels(trace: Trace, said: Said) -> dict[str, str]:
    """HTTP channels counted anew, without sentinels; answers are counted as the questions are. What a client
    sends at once is numbered by chance: its requests are counted by what they are about."""
    opened: dict[str, Frame] = {}
    for frame in trace.frames:
        if frame.kind is Kind.REQUEST and not frame.channel.endswith("/ws"):
            opened.setdefault(frame.channel, frame)
    answers = {one: said[frame.n][0].id for one, frame in opened.items() if is_answer(frame, said[frame.n])}
    asking = [
        one
        for one in sorted(opened, key=natural)
        if one not in answers and not any(map(is_sentinel, said[opened[one].n]))
    ]
    if asker_of(trace) is Sender.SUBJECT:
        names = _by_matter(trace, {one: said[opened[one].n] for one in asking})
    else:
        names = _counted((one, one.partition("/")[2].rpartition("-")[0], "") for one in asking)
    asked = _questions(trace, names)
    for channel, number in answers.items():
        names[channel] = f"{opened[channel].connection}/answer-{asked.get(repr(number), 0)}"
    return names


def _counted(channels: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Names by channel, given their kinds and what they are counted with."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    names: dict[str, str] = {}
    for channel, kind, group in channels:
        connection = channel.partition("/")[0]
        counts[connection, group] += 1
        names[channel] = f"{connection}/{kind}-{counts[connection, group]}"
    return names


def _by_matter(trace: Trace, sent: dict[str, list[Message]]) -> dict[str, str]:
    """`1/post-tools/call-add-2`; of those that were on their way at once, the arguments give the order."""
    spans = _spans(trace)
    matters = {one: _matter(one, messages) for one, messages in sent.items()}
    ordered: list[str] = []
    for matter in dict.fromkeys(matters.values()):
        alike = sorted((one for one in sent if matters[one] == matter), key=lambda one: spans[one])
        for together in _overlapping(alike, spans):
            ordered += sorted(together, key=lambda one: _arguments(sent[one]))
    return _counted((one, matters[one], matters[one]) for one in ordered)


def _matter(channel: str, messages: Sequence[Message]) -> str:
    about = [f"{one.method}-{one.params.get('name') or one.params.get('uri') or ''}" for one in messages[:1]]
    return "-".join((stream_of(channel), *(one.removesuffix("-") for one in about)))


def _arguments(messages: Sequence[Message]) -> str:
    return dumps([{**one.params, "_meta": None} for one in messages], sort_keys=True)


def _spans(trace: Trace) -> dict[str, tuple[int, int]]:
    """The first and the last frame of each channel."""
    spans: dict[str, tuple[int, int]] = {}
    for frame in trace.frames:
        spans[frame.channel] = spans.get(frame.channel, (frame.n, 0))[0], frame.n
    return spans


def _overlapping(channels: Iterable[str], spans: dict[str, tuple[int, int]]) -> Iterator[list[str]]:
    """Channels in the order in which they began, those together that were open at once."""
    together: list[str] = []
    end = -1
    for channel in channels:
        if together and spans[channel][0] > end:
            yield together
            together = []
        together.append(channel)
        end = max(end, spans[channel][1])
    if together:
        yield together


def _questions(trace: Trace, names: dict[str, str]) -> dict[str, int]:
    """What the side that serves has asked, numbered by channel and place."""
    asker = asker_of(trace)
    asked = [one for one in trace.messages if one.shape is Shape.REQUEST and one.frame.sender is not asker]
    asked.sort(key=lambda one: (natural(names.get(one.frame.channel, one.frame.channel)), one.frame.n))
    return {repr(message.id): number for number, message in enumerate(asked, 1)}


def left_early(trace: Trace) -> Iterator[str]:
    """Connections on which a sentinel was not answered: what would have come before that is not known."""
    waiting = {
        one.request.frame.connection: one
        for one in trace.all_exchanges
        if is_sentinel(one.request) and not one.answers
    }
    yield from sorted(waiting)
