"""What an arrow of the sequence diagram says: a frame in a few words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace

LONGEST = 80
"""A subject chooses its ids and methods; an arrow has only so much room."""
NAMED = 3
"""Messages of a batch that are named."""


class Caption(Struct, frozen=True):
    text: str
    note: str = ""
    """What stands behind it, smaller."""
    bad: bool = False
    """An error of JSON-RPC or of HTTP, or something that is neither."""


def captions(trace: Trace) -> list[Caption]:
    """One for each frame."""
    messages: dict[int, list[Message]] = defaultdict(list)
    for message in trace.messages:
        messages[message.frame.n].append(message)
    every = (*trace.all_exchanges, *trace.all_inquiries)
    asked = {id(answer): exchange.method for exchange in every for answer in exchange.answers}
    return [_caption(frame, messages[frame.n], asked) for frame in trace.frames]


def _caption(frame: Frame, messages: Sequence[Message], asked: dict[int, str]) -> Caption:
    said = _said(messages, asked)
    match frame.kind:
        case Kind.REQUEST:
            head = parse_head(frame.raw)
            line = _short(f"{head.method} {head.target}")
            return Caption(said.text, _joined(said.note, line), said.bad) if said else Caption(line)
        case Kind.HEAD:
            head = parse_head(frame.raw)
            status = _short(f"{head.start[1]} {head.start[2]}".strip())
            return Caption(status, _short(head.media_type), not 100 <= head.status < 400)
        case Kind.MARK | Kind.EXIT | Kind.END | Kind.CONTROL:
            return _remark(frame)
    return said or Caption(str(frame.kind), f"{len(frame.raw)} bytes")


def _remark(frame: Frame) -> Caption:
    """Of frames without bytes."""
    info = {key: value for key, value in frame.info.items() if key != "label" and value not in ("", None)}
    cut_off = info.pop("clean", True) is False
    note = ", ".join(f"{key} {value}" for key, value in info.items())
    text = "cut off" if cut_off else str(frame.info.get("label", frame.kind))
    return Caption(_short(text), _short(note), cut_off)


def _said(messages: Sequence[Message], asked: dict[int, str]) -> Caption | None:
    if not messages:
        return None
    if len(messages) == 1 and messages[0].place is None:
        return _message(messages[0], asked)
    parts = [_message(one, asked) for one in messages]
    named = ", ".join(part.text for part in parts[:NAMED])
    more = f" and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
    return Caption(f"{len(parts)} messages", _short(named + more), any(part.bad for part in parts))


def _message(message: Message, asked: dict[int, str]) -> Caption:
    number = _short(f"id {message.id}") if "id" in message.fields else ""
    match message.shape:
        case Shape.REQUEST:
            return Caption(_short(message.method), number)
        case Shape.NOTIFICATION:
            return Caption(_short(message.method), "notification")
        case Shape.RESULT:
            return Caption("result", _joined(number, asked.get(id(message), "")))
        case Shape.ERROR:
            return Caption(_short(f"error {message.code}"), _joined(number, asked.get(id(message), "")), True)
    return Caption(_short(message.problem or "no JSON-RPC message"), number, True)


def _joined(*parts: str) -> str:
    return " \N{MIDDLE DOT} ".join(part for part in parts if part)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\N{HORIZONTAL ELLIPSIS}"
