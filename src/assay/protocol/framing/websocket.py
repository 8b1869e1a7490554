"""WebSocket frames (RFC 6455, section 5): any frame can be written and read, messages are read by the rules.

A client masks what it sends and a server does not; each refuses the other's way. Masks come from the caller,
since nothing here is left to chance. `FrameReader` takes odd frames as they are, for peers that must send and
see them; `MessageReader` is what an endpoint uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

CONTINUATION: Final = 0x0
TEXT: Final = 0x1
BINARY: Final = 0x2
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA
DATA: Final = frozenset({CONTINUATION, TEXT, BINARY})
CONTROL: Final = frozenset({CLOSE, PING, PONG})

NORMAL: Final = 1000
GOING_AWAY: Final = 1001
PROTOCOL_ERROR: Final = 1002
UNSUPPORTED: Final = 1003
NO_CODE: Final = 1005
"""Never sent: the close frame held no code."""
LOST: Final = 1006
"""Never sent: the connection ended without a close frame."""
NOT_TEXT: Final = 1007
POLICY: Final = 1008
TOO_BIG: Final = 1009
INTERNAL: Final = 1011

CONTROL_BYTES: Final = 125
REASON_BYTES: Final = CONTROL_BYTES - 2
_FIN: Final = 0x80
_MASKED: Final = 0x80
_TWO_BYTES: Final = 126
_EIGHT_BYTES: Final = 127
_WHOLE_TEXT: Final = _FIN | TEXT
_LENGTH_SIZES: Final = {_TWO_BYTES: 2, _EIGHT_BYTES: 8}
_SHORT_HEADS: Final = [bytes((_WHOLE_TEXT, length)) for length in range(_TWO_BYTES)]


def masked(payload: bytes, mask: bytes) -> bytes:
    """Put a mask on, or take it off: both are the same."""
    size = len(payload)
    repeated = (mask * (size // 4 + 1))[:size]
    # As one number each: the fastest way that Python itself has to combine bytes.
    return (int.from_bytes(payload, "little") ^ int.from_bytes(repeated, "little")).to_bytes(size, "little")


def frame(opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, mask: bytes | None = None) -> bytes:
    """Write one frame, by the rules or against them: `rsv` holds the three reserved bits as a number."""
    length = len(payload)
    if length < _TWO_BYTES:
        short, rest = length, b""
    elif length < 1 << 16:
        short, rest = _TWO_BYTES, length.to_bytes(2, "big")
    else:
        short, rest = _EIGHT_BYTES, length.to_bytes(8, "big")
    first = (_FIN if fin else 0) | rsv << 4 | opcode
    if mask is None:
        return bytes((first, short)) + rest + payload
    return bytes((first, _MASKED | short)) + rest + mask + masked(payload, mask)


def text_frame(payload: bytes) -> bytes:
    """A whole text message without a mask: what a server sends all the time."""
    length = len(payload)
    if length < _TWO_BYTES:
        return _SHORT_HEADS[length] + payload
    if length < 1 << 16:
        return b"\x81\x7e" + length.to_bytes(2, "big") + payload
    return frame(TEXT, payload)


def close_frame(code: int = NORMAL, reason: str = "", mask: bytes | None = None) -> bytes:
    """
    Raises:
        ValueError: the code is one that no frame may carry.
    """
    if not is_sendable(code):
        raise ValueError(f"close code that may not be sent: {code}")
    return frame(CLOSE, code.to_bytes(2, "big") + _cut(reason), mask=mask)


def is_sendable(code: int) -> bool:
    """Whether a close frame may carry this code (RFC 6455, 7.4, and the registry that it opens)."""
    return 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999


def _cut(reason: str) -> bytes:
    """As much of a reason as a close frame has room for, in whole characters."""
    return reason.encode()[:REASON_BYTES].decode("utf-8", "ignore").encode()


class Frame(NamedTuple):
    """A frame as it was on the wire, its mask taken off."""

    opcode: int
    payload: bytes
    fin: bool = True
    rsv: int = 0
    mask: bytes | None = None


class FrameHead(NamedTuple):
    """What is known of a frame before its payload has come."""

    fin: bool
    rsv: int
    opcode: int
    masked: bool
    length: int
    shortest: bool
    """Whether the length is written in as few bytes as it could be."""
    size: int
    """Bytes of the head itself."""


class Violation(NamedTuple):
    """The peer broke the rules: close with this code and reason. Nothing more is read from it."""

    code: int
    reason: str


class Ping(NamedTuple):
    payload: bytes


class Pong(NamedTuple):
    payload: bytes


class Close(NamedTuple):
    """The peer wants to close, or agrees to. `NO_CODE` when it gave none."""

    code: int
    reason: str


Received = str | bytes | Ping | Pong | Close | Violation
"""A text message, a binary message, or what controls the connection."""


def read_head(data: bytes | bytearray, start: int = 0) -> FrameHead | None:
    """The head that begins at `start`; none while it has not all come."""
    if len(data) < start + 2:
        return None
    first, second = data[start], data[start + 1]
    short, is_masked = second & 0x7F, second >= _MASKED
    wide = _LENGTH_SIZES.get(short, 0)
    size = 2 + wide + (4 if is_masked else 0)
    if len(data) < start + size:
        return None
    length = int.from_bytes(data[start + 2 : start + 2 + wide], "big") if wide else short
    shortest = length >= _TWO_BYTES if wide == 2 else length >= 1 << 16 if wide else True
    return FrameHead(first >= _FIN, first >> 4 & 7, first & 0xF, is_masked, length, shortest, size)


Judge = Callable[[FrameHead], Violation | None]
"""Decides whether a frame may come, before any of its payload is kept. Asked once for each frame."""


class FrameReader:
    """Reads frames from bytes in any chunking, whatever they are; by default only their size is bounded."""

    def __init__(self, limit: int, judge: Judge | None = None) -> None:
        self._limit = limit
        self._judge = judge or self._bound
        self._buffer = bytearray()
        self._start = 0
        self._head: FrameHead | None = None
        self._failed = False

    @property
    def is_between(self) -> bool:
        """Whether no frame has begun to arrive."""
        return not self._buffer and not self._failed

    def feed(self, data: bytes) -> list[Frame | Violation]:
        """What `data` completes; after a violation nothing more ever comes."""
        if self._failed:
            return []
        self._buffer += data
        found: list[Frame | Violation] = []
        while (one := self._next()) is not None:
            found.append(one)
        del self._buffer[: self._start]
        self._start = 0
        return found

    def _next(self) -> Frame | Violation | None:
        head = self._head
        if head is None:
            head = self._head = read_head(self._buffer, self._start)
            if head is None:
                return None
            violation = self._judge(head)
            if violation is not None:
                self._failed, self._head = True, None
                self._buffer.clear()
                return violation
        begin = self._start + head.size
        end = begin + head.length
        if len(self._buffer) < end:
            return None
        self._start, self._head = end, None
        payload = bytes(self._buffer[begin:end])
        if not head.masked:
            return Frame(head.opcode, payload, head.fin, head.rsv)
        mask = bytes(self._buffer[begin - 4 : begin])
        return Frame(head.opcode, masked(payload, mask), head.fin, head.rsv, mask)

    def _bound(self, head: FrameHead) -> Violation | None:
        return None if head.length <= self._limit else too_big(self._limit)


def too_big(limit: int) -> Violation:
    return Violation(TOO_BIG, f"message too big: limit {limit} bytes")


class FrameRules:
    """Which frame may come next (RFC 6455, 5.1, 5.2, 5.4 and 5.5), by the heads of those before."""

    def __init__(self, limit: int, *, masked: bool) -> None:
        self._limit = limit
        self._masked = masked
        self._announced = 0
        """Bytes of the message in progress."""
        self.in_message = False

    def judge(self, head: FrameHead) -> Violation | None:
        problem = self._problem(head)
        if problem is not None:
            return Violation(PROTOCOL_ERROR, problem)
        if head.opcode in DATA:
            self._announced = head.length + (self._announced if head.opcode == CONTINUATION else 0)
            self.in_message = not head.fin
            if self._announced > self._limit:
                return too_big(self._limit)
        return None

    def _problem(self, head: FrameHead) -> str | None:
        if head.rsv:
            return "reserved bit set: no extension was agreed on"
        if head.opcode not in DATA and head.opcode not in CONTROL:
            return f"unknown opcode: {head.opcode}"
        if head.masked is not self._masked:
            return "frame without a mask" if self._masked else "frame with a mask"
        if not head.shortest or head.length >> 63:
            return "length not written as it must be"
        if head.opcode in CONTROL:
            if head.length > CONTROL_BYTES:
                return f"control frame too long: limit {CONTROL_BYTES} bytes"
            return None if head.fin else "control frame in fragments"
        if head.opcode == CONTINUATION:
            return None if self.in_message else "continuation of no message"
        return "message inside another message" if self.in_message else None


class MessageReader:
    """Reads messages and control frames by the rules, for a server (`masked`) or a client.

    `limit` bounds a message in bytes, all its fragments together. A message that would pass it is refused
    when its head has come. Reading ends with a `Close` or a `Violation`: whatever follows is ignored.
    """

    def __init__(self, limit: int, *, masked: bool) -> None:
        self._limit = limit
        self._masked = masked
        self._rules = FrameRules(limit, masked=masked)
        self._frames = FrameReader(limit, self._rules.judge)
        self._opcode = TEXT
        self._parts = bytearray()
        self._over = False
        self._between = masked
        """Nothing is in progress, and a whole message may be taken at a glance."""

    def feed(self, data: bytes) -> list[Received]:
        # Nearly all input is one whole masked text message, and is read right here.
        if self._between and len(data) > 7 and data[0] == _WHOLE_TEXT:
            length, start = data[1] - _MASKED, 6
            if length == _TWO_BYTES:
                length, start = data[2] << 8 | data[3], 8
            # A length of eight bytes, or one that is longer than it need be, is left to the rules.
            usual = (start == 8) == (length >= _TWO_BYTES)
            if usual and len(data) == start + length and length <= self._limit:
                return [self._text(masked(data[start:], data[start - 4 : start]))]
        return self._feed(data)

    def _feed(self, data: bytes) -> list[Received]:
        found: list[Received] = []
        if self._over:
            return found
        for one in self._frames.feed(data):
            received = one if isinstance(one, Violation) else self._take(one)
            if received is not None:
                found.append(received)
            if isinstance(received, Close | Violation):
                self._over = True
                self._parts.clear()
                break
        between = self._frames.is_between and not self._rules.in_message
        self._between = self._masked and between and not self._over
        return found

    def _take(self, one: Frame) -> Received | None:
        if one.opcode == PING:
            return Ping(one.payload)
        if one.opcode == PONG:
            return Pong(one.payload)
        if one.opcode == CLOSE:
            return read_close(one.payload)
        if one.opcode != CONTINUATION:
            self._opcode = one.opcode
            if one.fin:
                return self._finish(one.payload)
        # Joined at once: a row of empty fragments must not become a row of objects.
        self._parts += one.payload
        if not one.fin:
            return None
        payload = bytes(self._parts)
        self._parts.clear()
        return self._finish(payload)

    def _finish(self, payload: bytes) -> Received:
        return self._text(payload) if self._opcode == TEXT else payload

    def _text(self, payload: bytes) -> str | Violation:
        try:
            return payload.decode()
        except UnicodeDecodeError as error:
            self._over, self._between = True, False
            return Violation(NOT_TEXT, f"text is not UTF-8 at byte {error.start}")


def read_close(payload: bytes) -> Close | Violation:
    if not payload:
        return Close(NO_CODE, "")
    try:
        reason = payload[2:].decode()
    except UnicodeDecodeError:
        return Violation(NOT_TEXT, "the reason in a close frame is not UTF-8")
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or not is_sendable(code):
        return Violation(PROTOCOL_ERROR, "close frame without a proper code")
    return Close(code, reason)
