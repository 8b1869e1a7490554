"""JSON-RPC messages as evidence: read leniently, so that a broken one can still be looked at."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from enum import Enum
from typing import Any, Final

import msgspec
from msgspec import Struct

from .frame import Frame, Sender

_decode: Final = msgspec.json.Decoder().decode


class Shape(Enum):
    """What kind of message the keys make it."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    UNKNOWN = "unknown"
    """No JSON-RPC message, or two kinds at once."""


class Message(Struct, frozen=True):
    """One message of a frame; a batch is several."""

    frame: Frame
    body: bytes
    value: Any
    """The decoded JSON; none where `problem` says why there is none."""
    problem: str | None = None
    place: int | None = None
    """Its index in a batch."""

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
    def result(self) -> dict[str, Any]:
        return _object(self.fields.get("result"))

    @property
    def error(self) -> dict[str, Any]:
        return _object(self.fields.get("error"))

    @property
    def code(self) -> Any:
        return self.error.get("code")

    def __str__(self) -> str:
        """In a few words, for what was observed."""
        match self.shape:
            case Shape.REQUEST | Shape.NOTIFICATION:
                return f"{self.shape.value} {self.method}"
            case Shape.RESULT:
                return f"a result with {', '.join(sorted(self.result)) or 'nothing in it'}"
            case Shape.ERROR:
                return f"error {self.code}: {self.error.get('message')}"
        return self.problem or "no JSON-RPC message"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def same_id(one: Any, other: Any) -> bool:
    """Whether two ids are equal as JSON: 1, true and 1.0 are three things, though Python finds them equal."""
    return type(one) is type(other) and bool(one == other)


def id_group(one: Any) -> tuple[str, Hashable]:
    """The same for ids that are equal as JSON; of others, only improper ones may share it."""
    return type(one).__name__, one if isinstance(one, str | int | float) else None


def read_messages(frame: Frame, body: bytes) -> Iterator[Message]:
    """The messages of one body; a body that is no JSON gives one message with a problem."""
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
