"""Frames: the traffic between driver and subject, byte for byte, one line of NDJSON each.

A frame is never rewritten: readers parse headers or JSON values from `raw` when they need them. Each stored
frame carries a hash over itself and the previous frame's hash, so edits of a stored trace are detected.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct, field

FORMAT: Final = 1
_encode: Final = msgspec.json.Encoder().encode


class Sender(StrEnum):
    DRIVER = "driver"
    SUBJECT = "subject"


class Kind(StrEnum):
    LINE = "line"
    """Bytes on stdin or stdout: the subject's split after each newline, the driver's as written."""
    REQUEST = "request"
    """An HTTP request, head and body, as written."""
    HEAD = "head"
    """Status line and headers of an HTTP response."""
    BODY = "body"
    """A complete HTTP response body other than an event stream, transfer coding removed."""
    EVENT = "event"
    """One block of an event stream, including the blank line that ends it."""
    TEXT = "text"
    """The payload of a WebSocket text message."""
    BINARY = "binary"
    CONTROL = "control"
    """A WebSocket close, ping or pong, or bytes that broke its framing; `info` says which."""
    ERRORS = "errors"
    """A line that the subject wrote to standard error."""
    END = "end"
    """The sender ended this channel; `info.clean` is false if the channel was cut off."""
    EXIT = "exit"
    """The subject's process exited; `info.status` is the exit status, negative for a signal."""
    SPAN = "span"
    """A span that the subject exported, as OTLP/JSON."""
    MARK = "mark"
    """An annotation by the driver; `info.label` names it."""


class Header(Struct, frozen=True, omit_defaults=True):
    """The first line of a trace."""

    revision: str
    transport: str
    subject: str
    scenario: str
    started: str = ""
    format: int = FORMAT
    closed: bool = False
    """Whether the scenario ran to its end; if it did not, a missing message proves nothing."""
    role: str = "server"
    """Role of the subject."""
    again: str = ""
    """The command that runs the scenario again."""


class Frame(Struct, frozen=True):
    n: int
    t: float
    """Seconds since the start of the trace."""
    sender: Sender
    channel: str
    """`<connection>/<stream>`: `1/lines`, `1/post-3`, `2/get-1`."""
    kind: Kind
    raw: bytes = b""
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def connection(self) -> str:
        return self.channel.partition("/")[0]

    @property
    def stream(self) -> str:
        """The kind of its stream: `lines`, `ws`, or the method of the HTTP request, as `post` or `get`."""
        return stream_of(self.channel)

    @property
    def is_on_get(self) -> bool:
        """Whether it passed on a stream that the client opened with GET, to listen or to resume another."""
        return self.stream == "get"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame itself: everything that can be cited as evidence has `frames`."""
        return (self,)


def stream_of(channel: str) -> str:
    return channel.partition("/")[2].partition("-")[0]


class _Line(Struct, omit_defaults=True):
    """What is stored of a frame, in this order."""

    n: int
    t: float
    sender: Sender = field(name="from")
    channel: str
    kind: Kind
    raw: str = ""
    base64: str = ""
    info: dict[str, Any] = field(default_factory=dict)


def encode_header(header: Header) -> bytes:
    return _encode({"format": header.format, **msgspec.to_builtins(header)})


def encode_frame(frame: Frame, previous: str) -> tuple[bytes, str]:
    """The frame as a line without newline, and its chain hash."""
    body = _encode(_line(frame))
    link = sha256(previous.encode() + body).hexdigest()
    return body[:-1] + b',"chain":"' + link.encode() + b'"}', link


def _line(frame: Frame) -> _Line:
    raw, base64 = "", ""
    if frame.raw:
        try:
            raw = frame.raw.decode("utf-8")
        except UnicodeDecodeError:
            base64 = b64encode(frame.raw).decode()
    return _Line(frame.n, round(frame.t, 6), frame.sender, frame.channel, frame.kind, raw, base64, frame.info)


def first_link(header_line: bytes) -> str:
    return sha256(header_line).hexdigest()


class _Stored(Struct):
    n: int
    t: float
    sender: Sender = field(name="from")
    channel: str
    kind: Kind
    chain: str
    raw: str = ""
    base64: str = ""
    info: dict[str, Any] = field(default_factory=dict)


_decode_stored: Final = msgspec.json.Decoder(_Stored).decode


def decode_frame(line: bytes) -> tuple[Frame, str]:
    """
    Raises:
        ValueError: the line is not a frame.
    """
    stored = _decode_stored(line)
    raw = b64decode(stored.base64, validate=True) if stored.base64 else stored.raw.encode()
    frame = Frame(stored.n, stored.t, stored.sender, stored.channel, stored.kind, raw, stored.info)
    return frame, stored.chain
