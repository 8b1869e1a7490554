"""Lines that pipe messages into the server's command."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace

from .message_line import MessageLine, cited_frames, is_literal, is_shown
from .section import section
from .shell import printed

MOST_LINES: Final = 12
"""Lines to pipe at most; beyond that the scenario is easier to read."""
_OPENING: Final = ("initialize", "notifications/initialized")


class PipeRepeater:
    """Repeats lines of one connection; units are frames of the driver."""

    most: Final = MOST_LINES

    def __init__(self, trace: Trace, numbers: Sequence[int]) -> None:
        self._trace = trace
        cited = cited_frames(trace, numbers)
        self._numbers = {frame.n for frame in cited}
        answers = any(message.is_response for message in trace.messages if _is_cited(message, self._numbers))
        self._can_show = is_shown(cited) and len({frame.connection for frame in cited}) == 1 and not answers
        lines = [frame for frame in trace.frames if frame.kind is Kind.LINE]
        self._lines = [frame for frame in lines if self._can_show and frame.connection == cited[0].connection]
        self._sent = [frame for frame in self._lines if frame.sender is Sender.DRIVER]
        self._last = max(self._numbers, default=0)
        self._answers = _answers(trace, {frame.n for frame in self._sent})

    @property
    def cited(self) -> list[Frame]:
        return [frame for frame in self.before if frame.n in self._numbers or _opens(self._trace, frame)]

    @property
    def before(self) -> list[Frame]:
        return [frame for frame in self._sent if frame.n <= self._last and _is_repeatable(self._trace, frame)]

    def is_needed(self, frame: Frame) -> bool:
        """The handshake is never left out, because servers refuse what comes without it, nor what the finding
        cites."""
        return frame.n in self._numbers or _opens(self._trace, frame)

    def line(self, sent: Sequence[Frame]) -> MessageLine | None:
        """The line, with what the server sent because of these messages."""
        chosen = {frame.n for frame in sent}
        frames = [frame for frame in self._lines if self._causes(frame) <= chosen]
        if not sent or _is_dialogue(self._trace, frames) or not all(map(_is_whole, self._sent)):
            return None
        return MessageLine(_pipe(self._trace, frames), section(self._trace, frames), (sent[0].channel,))

    def _causes(self, frame: Frame) -> set[int]:
        """The messages that led to a line: itself, the request that it is the first to answer, or else those
        before it, up to a request that was answered already."""
        if frame.sender is Sender.DRIVER:
            return {frame.n}
        if frame.n in self._answers:
            return {self._answers[frame.n]}
        causes: set[int] = set()
        settled = {request for answer, request in self._answers.items() if answer < frame.n}
        for sent in reversed([sent for sent in self._sent if sent.n < frame.n]):
            if causes and sent.n in settled:
                break
            causes.add(sent.n)
            if sent.n in settled:
                break
        return causes or {-1}


def _is_cited(message: Message, numbers: set[int]) -> bool:
    return not message.by_subject and message.frame.n in numbers


def _is_dialogue(trace: Trace, frames: Sequence[Frame]) -> bool:
    """Whether the server asked something, or was answered: a pipe does not wait for questions."""
    numbers = {frame.n for frame in frames}
    messages = [message for message in trace.messages if message.frame.n in numbers]
    return any(
        ("id" in message.fields and message.method) if message.by_subject else message.is_response
        for message in messages
    )


def _is_whole(frame: Frame) -> bool:
    """Whether the driver wrote whole lines: parts of one belong together."""
    return frame.raw.endswith(b"\n")


def _opens(trace: Trace, frame: Frame) -> bool:
    return any(message.frame is frame and message.method in _OPENING for message in trace.messages)


def _answers(trace: Trace, sent: set[int]) -> dict[int, int]:
    """The frames that are the first to answer these frames."""
    return {
        answer.frame.n: exchange.request.frame.n
        for exchange in trace.all_exchanges
        if exchange.request.frame.n in sent
        for answer in exchange.answers[:1]
    }


def _is_repeatable(trace: Trace, frame: Frame) -> bool:
    messages = [message for message in trace.messages if message.frame is frame]
    return is_literal(trace, messages, frame.raw)


def _pipe(trace: Trace, frames: Sequence[Frame]) -> str:
    """Many servers end with their input, whatever they still have to answer: it stays open for a while."""
    groups = _groups(trace, frames)
    seconds = ceil(2 * (max(frame.t for frame in frames) - groups[0][0].t)) + 1
    parts = "; sleep 0.5; ".join(printed([frame.raw for frame in group]) for group in groups)
    return f"({parts}; sleep {seconds}) | {trace.header.subject}"


def _groups(trace: Trace, frames: Sequence[Frame]) -> list[list[Frame]]:
    """The messages to send, apart where one was answered before the next was sent. Servers know how to wait
    for the end of the handshake."""
    groups: list[list[Frame]] = [[]]
    is_answered = False
    for frame in frames:
        if frame.sender is not Sender.DRIVER:
            is_answered = is_answered or bool(groups[-1] and not _opens(trace, groups[-1][-1]))
        elif is_answered:
            groups.append([frame])
            is_answered = False
        else:
            groups[-1].append(frame)
    return groups
