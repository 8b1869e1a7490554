"""Captions of the arrows in the sequence diagram."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace

LONGEST = 80
"""Characters: a subject chooses its ids and methods, and an arrow has little room."""
NAMED = 3
"""Messages of a batch that a caption names."""


class Caption(Struct, frozen=True):
    text: str
    note: str = ""
    """Small print after the text."""
    bad: bool = False
    """An error of JSON-RPC or HTTP, or an invalid message."""


def captions(trace: Trace) -> list[Caption]:
    """One caption per frame."""
    messages: dict[int, list[Message]] = defaultdict(list)
    for message in trace.messages:
        messages[message.frame.n].append(message)
    exchanges = (*trace.all_exchanges, *trace.all_subject_exchanges)
    methods = {id(answer): exchange.method for exchange in exchanges for answer in exchange.answers}
    return [_caption(frame, messages[frame.n], methods) for frame in trace.frames]


def _caption(frame: Frame, messages: Sequence[Message], methods: dict[int, str]) -> Caption:
    """`methods` are those of the answered requests, by the answer's id."""
    body = _body(messages, methods)
    match frame.kind:
        case Kind.REQUEST:
            head = parse_head(frame.raw)
            line = _short(f"{head.method} {head.target}")
            return Caption(body.text, _joined(body.note, line), body.bad) if body else Caption(line)
        case Kind.HEAD:
            head = parse_head(frame.raw)
            status = _short(f"{head.start[1]} {head.start[2]}".strip())
            return Caption(status, _short(head.media_type), not 100 <= head.status < 400)
        case Kind.MARK | Kind.EXIT | Kind.END | Kind.CONTROL:
            return _event(frame)
    return body or Caption(str(frame.kind), f"{len(frame.raw)} bytes")


def _event(frame: Frame) -> Caption:
    """Caption of a frame without bytes."""
    info = {key: value for key, value in frame.info.items() if key != "label" and value not in ("", None)}
    cut_off = info.pop("clean", True) is False
    note = ", ".join(f"{key} {value}" for key, value in info.items())
    text = "cut off" if cut_off else str(frame.info.get("label", frame.kind))
    return Caption(_short(text), _short(note), cut_off)


def _body(messages: Sequence[Message], methods: dict[int, str]) -> Caption | None:
    if not messages:
        return None
    if len(messages) == 1 and messages[0].place is None:
        return _message(messages[0], methods)
    parts = [_message(message, methods) for message in messages]
    named = ", ".join(part.text for part in parts[:NAMED])
    more = f" and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
    return Caption(f"{len(parts)} messages", _short(named + more), any(part.bad for part in parts))


def _message(message: Message, methods: dict[int, str]) -> Caption:
    number = _short(f"id {message.id}") if "id" in message.fields else ""
    note = _joined(number, methods.get(id(message), ""))
    match message.shape:
        case Shape.REQUEST:
            return Caption(_short(message.method), number)
        case Shape.NOTIFICATION:
            return Caption(_short(message.method), "notification")
        case Shape.RESULT:
            return Caption("result", note)
        case Shape.ERROR:
            return Caption(_short(f"error {message.code}"), note, True)
    return Caption(_short(message.problem or "not a JSON-RPC message"), number, True)


def _joined(*parts: str) -> str:
    return " \N{MIDDLE DOT} ".join(part for part in parts if part)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\N{HORIZONTAL ELLIPSIS}"
