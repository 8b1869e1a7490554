"""Lanes: groups of frames that have an order among themselves, but not relative to other groups.

On a shared channel, answers to concurrent requests come in any order: each answer is a lane, and so is the
progress of each request. On HTTP, the driver answers the server's requests in POSTs with arbitrary numbers.
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
"""The channel of the mark for a driver that disconnected before its last sentinel was answered."""

MessagesByFrame = dict[int, list[Message]]
"""Messages by the number of the frame that completes them."""


def messages_by_frame(trace: Trace) -> MessagesByFrame:
    messages: MessagesByFrame = defaultdict(list)
    for message in trace.messages:
        messages[message.frame.n].append(message)
    return messages


def client_side(trace: Trace) -> Sender:
    """The side that acts as the client."""
    return Sender.SUBJECT if trace.header.role == "client" else Sender.DRIVER


def lane_of(frame: Frame, messages: Sequence[Message], steady: Sender | None = Sender.DRIVER) -> str:
    """The lane within a channel and direction. All messages of the `steady` side have one order."""
    if frame.sender is steady or frame.kind not in SHARED:
        return "closing" if frame.kind in CLOSING and frame.stream in ("ws", "lines") else ""
    for message in messages:
        if message.is_response and message.id is not None:
            return f"answer to {message.id!r}"
        if message.method == "notifications/progress":
            return f"progress of {message.params.get('progressToken')!r}"
    return ""


def is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def is_answer(frame: Frame, messages: Sequence[Message]) -> bool:
    """Whether an HTTP request carries only answers to requests of the subject."""
    return frame.kind is Kind.REQUEST and bool(messages) and all(message.is_response for message in messages)


def natural(channel: str) -> tuple[int, int, str, str]:
    """The sort key of a channel: `1/post-10` comes after `1/get-9`, and `1/lines` before both."""
    connection, _, stream = channel.partition("/")
    name, _, number = stream.rpartition("-")
    counted = number.isdecimal() and bool(name)
    first = int(connection) if connection.isdecimal() else 0
    return first, int(number) if counted else 0, name if counted else stream, connection


def canonical_channels(trace: Trace, messages: MessagesByFrame) -> dict[str, str]:
    """New names for the HTTP channels, numbered without sentinels; answers get the number of their request.

    A client under test may send requests concurrently, so these are numbered by their method and target.
    """
    opened: dict[str, Frame] = {}
    for frame in trace.frames:
        if frame.kind is Kind.REQUEST and frame.stream != "ws":
            opened.setdefault(frame.channel, frame)
    answers = {
        channel: messages[frame.n][0].id
        for channel, frame in opened.items()
        if is_answer(frame, messages[frame.n])
    }
    requests = [
        channel
        for channel in sorted(opened, key=natural)
        if channel not in answers and not any(map(is_sentinel, messages[opened[channel].n]))
    ]
    if client_side(trace) is Sender.SUBJECT:
        names = _by_topic(trace, {channel: messages[opened[channel].n] for channel in requests})
    else:
        names = _numbered((channel, channel.partition("/")[2].rpartition("-")[0], "") for channel in requests)
    numbers = _server_requests(trace, names)
    for channel, request_id in answers.items():
        names[channel] = f"{opened[channel].connection}/answer-{numbers.get(repr(request_id), 0)}"
    return names


def _numbered(channels: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """New names by channel, given the kind of each channel and the group that it is numbered in."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    names: dict[str, str] = {}
    for channel, kind, group in channels:
        connection = channel.partition("/")[0]
        counts[connection, group] += 1
        names[channel] = f"{connection}/{kind}-{counts[connection, group]}"
    return names


def _by_topic(trace: Trace, sent: dict[str, list[Message]]) -> dict[str, str]:
    """Names like `1/post-tools/call-add-2`. Concurrent requests are ordered by their arguments."""
    spans = _spans(trace)
    topics = {channel: _topic(channel, messages) for channel, messages in sent.items()}
    ordered: list[str] = []
    for topic in dict.fromkeys(topics.values()):
        alike = sorted((channel for channel in sent if topics[channel] == topic), key=lambda key: spans[key])
        for group in _overlapping(alike, spans):
            ordered += sorted(group, key=lambda channel: _arguments(sent[channel]))
    return _numbered((channel, topics[channel], topics[channel]) for channel in ordered)


def _topic(channel: str, messages: Sequence[Message]) -> str:
    parts = [stream_of(channel)]
    for message in messages[:1]:
        target = message.params.get("name") or message.params.get("uri") or ""
        parts.append(f"{message.method}-{target}".removesuffix("-"))
    return "-".join(parts)


def _arguments(messages: Sequence[Message]) -> str:
    return dumps([{**message.params, "_meta": None} for message in messages], sort_keys=True)


def _spans(trace: Trace) -> dict[str, tuple[int, int]]:
    """The first and the last frame of each channel."""
    spans: dict[str, tuple[int, int]] = {}
    for frame in trace.frames:
        spans[frame.channel] = spans.get(frame.channel, (frame.n, 0))[0], frame.n
    return spans


def _overlapping(channels: Iterable[str], spans: dict[str, tuple[int, int]]) -> Iterator[list[str]]:
    """Groups of channels that were open at the same time, in the order of their first frames."""
    group: list[str] = []
    end = -1
    for channel in channels:
        if group and spans[channel][0] > end:
            yield group
            group = []
        group.append(channel)
        end = max(end, spans[channel][1])
    if group:
        yield group


def _server_requests(trace: Trace, names: dict[str, str]) -> dict[str, int]:
    """The requests of the serving side by id, numbered by channel and position."""
    client = client_side(trace)
    requests = [
        message
        for message in trace.messages
        if message.shape is Shape.REQUEST and message.frame.sender is not client
    ]

    def position(message: Message) -> tuple[tuple[int, int, str, str], int]:
        channel = message.frame.channel
        return natural(names.get(channel, channel)), message.frame.n

    return {repr(message.id): number for number, message in enumerate(sorted(requests, key=position), 1)}


def cut_connections(trace: Trace) -> list[str]:
    """Connections with an unanswered sentinel, on which frames before its answer may be missing."""
    sentinels = [exchange for exchange in trace.all_exchanges if is_sentinel(exchange.request)]
    return sorted({sentinel.request.frame.connection for sentinel in sentinels if not sentinel.answers})
