"""JSON-RPC messages as evidence, read leniently so that checks can inspect malformed ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from enum import Enum
from typing import Any, Final

import msgspec
from msgspec import Struct

from .frame import Frame, Sender

_decode: Final = msgspec.json.Decoder().decode
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Shape(Enum):
    """The kind of a message, by its keys."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    UNKNOWN = "unknown"
    """Not a JSON-RPC message, or two kinds at once."""


class Message(Struct, frozen=True):
    """One message of a frame; a batch has several."""

    frame: Frame
    body: bytes
    value: Any
    """The decoded JSON; None if `problem` says that the body is not JSON."""
    problem: str | None = None
    place: int | None = None
    """Index in a batch."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    @property
    def fields(self) -> dict[str, Any]:
        return self.value if isinstance(self.value, dict) else {}

    @property
    def shape(self) -> Shape:
        fields = self.fields
        if "method" in fields:
            clash = "result" in fields or "error" in fields
            kind = Shape.REQUEST if "id" in fields else Shape.NOTIFICATION
            return Shape.UNKNOWN if clash else kind
        if ("result" in fields) == ("error" in fields):
            return Shape.UNKNOWN
        return Shape.RESULT if "result" in fields else Shape.ERROR

    @property
    def is_response(self) -> bool:
        return "method" not in self.fields and ("result" in self.fields or "error" in self.fields)

    @property
    def by_subject(self) -> bool:
        return self.frame.sender is Sender.SUBJECT

    @property
    def id(self) -> Any:
        return self.fields.get("id")

    @property
    def method(self) -> str:
        method = self.fields.get("method")
        return method if isinstance(method, str) else ""

    @property
    def params(self) -> dict[str, Any]:
        return _object(self.fields.get("params"))

    @property
    def meta(self) -> dict[str, Any]:
        return _object(self.params.get("_meta"))

    @property
    def result(self) -> dict[str, Any]:
        return _object(self.fields.get("result"))

    @property
    def error(self) -> dict[str, Any]:
        return _object(self.fields.get("error"))

    @property
    def code(self) -> Any:
        return self.error.get("code")

    def __str__(self) -> str:
        """A summary for `Observation.observed`."""
        match self.shape:
            case Shape.REQUEST | Shape.NOTIFICATION:
                return f"{self.shape.value} {self.method}"
            case Shape.RESULT:
                return f"a result with {', '.join(sorted(self.result)) or 'no members'}"
            case Shape.ERROR:
                return f"error {self.code}: {self.error.get('message')}"
        return self.problem or "not a JSON-RPC message"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def same_id(left: Any, right: Any) -> bool:
    """Whether two ids are equal as JSON: 1, true and 1.0 differ, although Python compares them equal."""
    return type(left) is type(right) and bool(left == right)


def id_group(value: Any) -> tuple[str, Hashable]:
    """A hashable key, equal for ids that are equal as JSON. Invalid ids of one type share a key."""
    return type(value).__name__, value if isinstance(value, str | int | float) else None


def read_messages(frame: Frame, body: bytes) -> Iterator[Message]:
    """The messages of a body; a body that is not JSON yields one message with a problem."""
    try:
        value = _decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        yield Message(frame, body, None, f"not JSON: {error}")
        return
    if not isinstance(value, list):
        yield Message(frame, body, value, None if isinstance(value, dict) else "not a JSON object")
        return
    if not value:
        yield Message(frame, body, value, "an empty batch")
    for place, member in enumerate(value):
        problem = None if isinstance(member, dict) else "not a JSON object"
        yield Message(frame, body, member, problem, place)


def severity(level: Any) -> int | None:
    """Rank of a level; None for an unknown level."""
    return LEVELS.index(level) if isinstance(level, str) and level in LEVELS else None
