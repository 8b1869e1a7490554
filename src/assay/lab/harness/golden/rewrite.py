"""Replaces volatile values in frames by names; every other byte stays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from json import dumps, loads
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_text import CRLF, HEAD_END, body_of
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace, events_of

from .json_place import ANY, DEEP, Span, Steps, is_json, places
from .normaliser import ADDRESS, ENDPOINT, LENGTH, QUESTIONS, Method, Volatile

_TYPES: Final = {
    str: "",
    bool: ", a truth value",
    type(None): ", null",
    dict: ", an object",
    list: ", a list",
}
_NUMBER: Final = ", a number"
_LENGTH: Final = f"({LENGTH.name} of the body)"
ID: Final = ("id",)
CANCELLED: Final = ("params", "requestId")
_Match = tuple[Span, Volatile]


def authority_of(trace: Trace) -> str:
    """Host and port of the subject's URL; empty without a port."""
    parts = urlsplit(trace.header.subject)
    return parts.netloc.rpartition("@")[2] if parts.scheme and ":" in parts.netloc else ""


class Rewriter:
    """Rewrites the frames of one trace; names are numbered in canonical order."""

    def __init__(self, trace: Trace, values: Sequence[Volatile], applied: Counter[str]) -> None:
        self._values = values
        self._applied = applied
        self._names: dict[str, dict[str, str]] = defaultdict(dict)
        self._authority = authority_of(trace).encode()
        self._headers = {header.lower(): rule for rule in values for header in rule.headers}
        self._fields = {field.encode(): rule for rule in values for field in rule.fields}
        self._lengths = _lengths(trace.frames)
        self._questions = {repr(message.id) for message in trace.received if message.shape is Shape.REQUEST}
        self._endpoints = set(_endpoints(trace.frames))

    def rewritten(self, frame: Frame, messages: Sequence[Message]) -> Frame:
        raw = self._rewritten(frame, messages)
        if self._authority and self._authority in raw:
            self._applied[ADDRESS.name] += 1
            raw = raw.replace(self._authority, f"({ADDRESS.name})".encode())
        return frame if raw == frame.raw else msgspec.structs.replace(frame, raw=raw)

    def _rewritten(self, frame: Frame, messages: Sequence[Message]) -> bytes:
        match frame.kind:
            case Kind.REQUEST:
                body = body_of(frame.raw)
                return self._head(frame.raw, len(body)) + self._body(body, messages)
            case Kind.HEAD:
                return self._head(frame.raw, self._lengths[frame.n])
            case Kind.EVENT:
                return self._block(frame.raw, messages)
            case Kind.LINE | Kind.TEXT | Kind.BODY:
                return self._body(frame.raw, messages)
        return frame.raw

    # Names.

    def _named(self, rule: Volatile, value: Any) -> str:
        """The name of a value; a value that is a name already stays."""
        text = value if isinstance(value, str) else dumps(value)
        if text.startswith(f"({rule.name}"):
            return text
        self._applied[rule.name] += 1
        kind = _TYPES.get(type(value), _NUMBER)
        if rule.method is Method.IGNORE:
            return f"({rule.name}{kind})"
        names = self._names[rule.name]
        return names.setdefault(text, f"({rule.name} {len(names) + 1}{kind})")

    # HTTP heads.

    def _head(self, raw: bytes, length: int) -> bytes:
        head, end, _ = raw.partition(HEAD_END)
        first, *lines = head.split(CRLF)
        return CRLF.join((self._start(first), *(self._header(line, length) for line in lines))) + end

    def _start(self, line: bytes) -> bytes:
        words = line.decode("latin-1").split(" ")
        if len(words) == 3 and words[1] in self._endpoints:
            words[1] = self._named(ENDPOINT, words[1])
        return " ".join(words).encode("latin-1")

    def _header(self, line: bytes, length: int) -> bytes:
        name, colon, rest = line.decode("latin-1").partition(":")
        value = rest.strip()
        rule = self._headers.get(name.lower())
        if rule is not None and value:
            rest = rest.replace(value, self._named(rule, value))
        elif name.lower() == LENGTH.name and value == str(length):
            self._applied[LENGTH.name] += 1
            rest = rest.replace(value, _LENGTH)
        return f"{name}{colon}{rest}".encode("latin-1")

    # Event streams.

    def _block(self, raw: bytes, messages: Sequence[Message]) -> bytes:
        lines = [_Line.of(line) for line in raw.splitlines(keepends=True)]
        data = b"\n".join(line.value for line in lines if line.field == b"data")
        rewritten = iter(self._data(data, messages).split(b"\n"))
        return b"".join(line.with_value(self._value(line, rewritten)) for line in lines)

    def _data(self, data: bytes, messages: Sequence[Message]) -> bytes:
        text = data.decode("utf-8", "replace")
        if text in self._endpoints:
            return self._named(ENDPOINT, text).encode()
        return self._body(data, messages)

    def _value(self, line: _Line, data: Iterator[bytes]) -> bytes:
        if line.field == b"data":
            return next(data, b"")
        rule = self._fields.get(line.field)
        if rule is None or not line.value:
            return line.value
        return self._named(rule, line.value.decode("utf-8", "replace")).encode()

    # Messages.

    def _body(self, raw: bytes, messages: Sequence[Message]) -> bytes:
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return raw
        if not is_json(text):
            return raw
        matches = [*self._by_place(text), *self._by_meaning(text, messages)]
        return "".join(self._replaced(text, sorted(matches, key=lambda match: match[0].start))).encode()

    def _by_place(self, text: str) -> Iterator[_Match]:
        batch = (ANY,) if text.lstrip().startswith("[") else ()
        for rule in self._values:
            for steps in rule.steps:
                # A cheap test first: most texts do not contain the key.
                if steps[-1] in text or steps[-1] in (ANY, DEEP):
                    yield from ((span, rule) for span in places(text, (*batch, *steps)))

    def _by_meaning(self, text: str, messages: Sequence[Message]) -> Iterator[_Match]:
        for message in messages:
            batch = () if message.place is None else (str(message.place),)
            for value, steps in ((message.id, ID), (message.params.get("requestId"), CANCELLED)):
                if repr(value) in self._questions and _refers_to_question(message, steps):
                    yield from ((span, QUESTIONS) for span in places(text, (*batch, *steps)))

    def _replaced(self, text: str, matches: Iterable[_Match]) -> Iterator[str]:
        at = 0
        for span, rule in matches:
            if span.start >= at:
                yield text[at : span.start]
                yield dumps(self._named(rule, loads(text[span.start : span.end])))
                at = span.end
        yield text[at:]


def _refers_to_question(message: Message, steps: Steps) -> bool:
    """Whether a message is, answers or cancels a request of the subject."""
    if steps == CANCELLED:
        return message.by_subject and message.method == "notifications/cancelled"
    return message.shape is Shape.REQUEST if message.by_subject else message.is_response


class _Line(Struct, frozen=True):
    """A line of an event stream."""

    field: bytes
    begin: bytes
    value: bytes
    end: bytes

    @classmethod
    def of(cls, line: bytes) -> _Line:
        text = line.rstrip(b"\r\n")
        field, colon, rest = text.partition(b":")
        value = rest.removeprefix(b" ")
        return cls(field, field + colon + rest[: len(rest) - len(value)], value, line[len(text) :])

    def with_value(self, value: bytes) -> bytes:
        return self.begin + value + self.end


def _lengths(frames: Sequence[Frame]) -> dict[int, int]:
    """The length of the body that follows each head, by the number of its frame."""
    bodies = {frame.channel: len(frame.raw) for frame in frames if frame.kind is Kind.BODY}
    return {frame.n: bodies.get(frame.channel, 0) for frame in frames if frame.kind is Kind.HEAD}


def _endpoints(frames: Iterable[Frame]) -> Iterator[str]:
    for frame in frames:
        if frame.kind is Kind.EVENT:
            for event in events_of(frame):
                if event.event == "endpoint":
                    yield event.data.decode("utf-8", "replace")
