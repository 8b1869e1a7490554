"""A line that sends recorded messages, and the frames that it repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.recorder import REPLACEMENT
from assay.lab.harness.trace.trace import Trace

LONGEST: Final = 100_000
"""Characters of a line. Systems limit an argument, Linux to 128 KiB."""
_HANDED_OUT: Final = ("cursor", "requestState", "taskId")
"""Parameters whose values a server may give out for one conversation only."""
_BESIDE: Final = frozenset({Kind.EXIT, Kind.SPAN, Kind.ERRORS})
"""Evidence that a line does not show."""


class MessageLine(Struct, frozen=True):
    text: str
    trace: Trace
    """The recorded frames that it repeats, with the answers."""
    shown: tuple[str, ...]
    """The channels whose answers it prints, in order."""


def cited_frames(trace: Trace, numbers: Sequence[int]) -> list[Frame]:
    frames = [trace.frames[n] for n in numbers if n < len(trace.frames)]
    return [frame for frame in frames if frame.kind is not Kind.MARK]


def is_shown(frames: Sequence[Frame]) -> bool:
    """Whether a line can show frames of these kinds at all."""
    return bool(frames) and not any(frame.kind in _BESIDE for frame in frames)


def is_literal(trace: Trace, messages: Sequence[Message], raw: bytes) -> bool:
    """Whether messages of the driver mean the same in another conversation: they hold no secret, answer no
    question of the server, and return nothing that it gave out."""
    if REPLACEMENT in raw:
        return False
    return not any(message.is_response or _returns(trace, message) for message in messages)


def _returns(trace: Trace, message: Message) -> bool:
    values = [value for value in _values(message.params) if value]
    received = [
        frame.raw for frame in trace.frames[: message.frame.n] if frame.sender is Sender.SUBJECT and frame.raw
    ]
    return any(value.encode("utf-8", "replace") in raw for value in values for raw in received)


def _values(params: dict[str, Any]) -> Iterator[str]:
    yield from (value for key in _HANDED_OUT if isinstance(value := params.get(key), str))
