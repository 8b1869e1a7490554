"""WebSocket frames (RFC 6455, section 5).

`frame` and `FrameReader` write and read any frame, invalid ones too, for test peers. `MessageReader` enforces
the rules, for endpoints. Clients mask their frames and servers do not (5.1); callers supply the masks,
because the protocol core has no randomness.
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
"""Never sent: the close frame had no code."""
LOST: Final = 1006
"""Never sent: the connection ended without a close frame."""
NOT_TEXT: Final = 1007
POLICY: Final = 1008
TOO_BIG: Final = 1009
INTERNAL: Final = 1011
TRY_AGAIN: Final = 1013

CONTROL_BYTES: Final = 125
REASON_BYTES: Final = CONTROL_BYTES - 2
_FIN: Final = 0x80
_MASKED: Final = 0x80
_TWO_BYTES: Final = 126
_EIGHT_BYTES: Final = 127
_WHOLE_TEXT: Final = _FIN | TEXT
_LENGTH_SIZES: Final = {_TWO_BYTES: 2, _EIGHT_BYTES: 8}
_SHORT_HEADS: Final = [bytes((_WHOLE_TEXT, length)) for length in range(_TWO_BYTES)]


_PIECE: Final = 4096
"""Bytes that are masked at once: a larger integer costs five times as much for each byte."""


def masked(payload: bytes | memoryview, mask: bytes) -> bytes:
    """Apply or remove a mask; both are the same operation."""
    size = len(payload)
    if size > _PIECE:
        return _masked_in_pieces(payload, mask)
    repeated = (mask * (size // 4 + 1))[:size]
    # XOR of two large integers is the fastest way to combine bytes in pure Python.
    return (int.from_bytes(payload, "little") ^ int.from_bytes(repeated, "little")).to_bytes(size, "little")


def _masked_in_pieces(payload: bytes | memoryview, mask: bytes) -> bytes:
    whole = len(payload) - len(payload) % _PIECE
    key = int.from_bytes(mask * (_PIECE // 4), "little")
    pieces = [
        (int.from_bytes(payload[start : start + _PIECE], "little") ^ key).to_bytes(_PIECE, "little")
        for start in range(0, whole, _PIECE)
    ]
    return b"".join((*pieces, masked(payload[whole:], mask)))


def frame(opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, mask: bytes | None = None) -> bytes:
    """Write one frame, valid or not; `rsv` is the three reserved bits as a number."""
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
    """Write a whole, unmasked text message: the frame that a server sends most."""
    length = len(payload)
    if length < _TWO_BYTES:
        return _SHORT_HEADS[length] + payload
    if length < 1 << 16:
        return b"\x81\x7e" + length.to_bytes(2, "big") + payload
    return frame(TEXT, payload)


def close_frame(code: int = NORMAL, reason: str = "", mask: bytes | None = None) -> bytes:
    """
    Raises:
        ValueError: no frame may carry this code.
    """
    if not is_sendable(code):
        raise ValueError(f"not a sendable close code: {code}")
    return frame(CLOSE, code.to_bytes(2, "big") + _cut(reason), mask=mask)


def is_sendable(code: int) -> bool:
    """Whether a close frame may carry this code (RFC 6455, 7.4, and the IANA registry)."""
    return 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999


def _cut(reason: str) -> bytes:
    """Truncate a reason to the size of a control frame, at a character boundary."""
    return reason.encode()[:REASON_BYTES].decode("utf-8", "ignore").encode()


class Frame(NamedTuple):
    """A frame as received, unmasked."""

    opcode: int
    payload: bytes
    fin: bool = True
    rsv: int = 0
    mask: bytes | None = None


class FrameHead(NamedTuple):
    """The fields of a frame before its payload."""

    fin: bool
    rsv: int
    opcode: int
    masked: bool
    length: int
    shortest: bool
    """Whether the length uses the minimal number of bytes, as 5.2 requires."""
    size: int
    """Bytes of the head itself."""


class Violation(NamedTuple):
    """The peer broke the protocol: close with this code and reason, and read no more."""

    code: int
    reason: str


class Ping(NamedTuple):
    payload: bytes


class Pong(NamedTuple):
    payload: bytes


class Close(NamedTuple):
    """The peer starts or confirms the closing handshake; `NO_CODE` if the frame had no code."""

    code: int
    reason: str


WebSocketEvent = str | bytes | Ping | Pong | Close | Violation
"""A text message, a binary message, or a control event."""


def read_head(data: bytes | bytearray, start: int = 0) -> FrameHead | None:
    """Read the head that begins at `start`; none while it is incomplete."""
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


HeadCheck = Callable[[FrameHead], Violation | None]
"""Accepts or rejects a frame by its head, before any of its payload is buffered. Called once per frame."""


class FrameReader:
    """Reads frames from bytes in chunks of any size. By default, only their size is checked."""

    def __init__(self, limit: int, check: HeadCheck | None = None) -> None:
        self._limit = limit
        self._check = check or self._check_size
        self._buffer = bytearray()
        self._start = 0
        self.head: FrameHead | None = None
        """The head of the frame in progress."""
        self._failed = False

    @property
    def is_between(self) -> bool:
        """Whether no frame has begun to arrive."""
        return not self._buffer and not self._failed

    def feed(self, data: bytes) -> list[Frame | Violation]:
        """Return the frames that `data` completes; nothing after a violation."""
        if self._failed:
            return []
        self._buffer += data
        frames: list[Frame | Violation] = []
        while (item := self._next()) is not None:
            frames.append(item)
        del self._buffer[: self._start]
        self._start = 0
        return frames

    def drop(self) -> None:
        """Free what is incomplete, and read nothing more."""
        self._failed, self.head = True, None
        self._buffer.clear()
        self._start = 0

    def _next(self) -> Frame | Violation | None:
        head = self.head
        if head is None:
            head = self.head = read_head(self._buffer, self._start)
            if head is None:
                return None
            violation = self._check(head)
            if violation is not None:
                self.drop()
                return violation
        begin = self._start + head.size
        end = begin + head.length
        if len(self._buffer) < end:
            return None
        self._start, self.head = end, None
        # A view, because each copy of a large payload costs as much as to decode it.
        with memoryview(self._buffer) as view, view[begin:end] as payload:
            if not head.masked:
                return Frame(head.opcode, bytes(payload), head.fin, head.rsv)
            mask = bytes(view[begin - 4 : begin])
            return Frame(head.opcode, masked(payload, mask), head.fin, head.rsv, mask)

    def _check_size(self, head: FrameHead) -> Violation | None:
        return None if head.length <= self._limit else too_big(self._limit)


def too_big(limit: int) -> Violation:
    return Violation(TOO_BIG, f"message too big: limit {limit} bytes")


class FrameRules:
    """Checks the sequence of frame heads (RFC 6455, 5.1, 5.2, 5.4 and 5.5)."""

    def __init__(self, limit: int, *, masked: bool) -> None:
        self._limit = limit
        self._masked = masked
        self._message_bytes = 0
        """Size of the message in progress, by the heads of its frames."""
        self.in_message = False

    def check(self, head: FrameHead) -> Violation | None:
        problem = self._problem(head)
        if problem is not None:
            return Violation(PROTOCOL_ERROR, problem)
        if head.opcode in DATA:
            self._message_bytes = head.length + (self._message_bytes if head.opcode == CONTINUATION else 0)
            self.in_message = not head.fin
            if self._message_bytes > self._limit:
                return too_big(self._limit)
        return None

    def _problem(self, head: FrameHead) -> str | None:
        if head.rsv:
            return "reserved bit set without a negotiated extension"
        if head.opcode not in DATA and head.opcode not in CONTROL:
            return f"unknown opcode: {head.opcode}"
        if head.masked is not self._masked:
            return "frame without a mask" if self._masked else "frame with a mask"
        if not head.shortest or head.length >> 63:
            return "length not in its shortest form"
        if head.opcode in CONTROL:
            if head.length > CONTROL_BYTES:
                return f"control frame too long: limit {CONTROL_BYTES} bytes"
            return None if head.fin else "fragmented control frame"
        if head.opcode == CONTINUATION:
            return None if self.in_message else "continuation without a message"
        return "message inside another message" if self.in_message else None


class MessageReader:
    """Reads messages and control frames and enforces the rules, for a server (`masked`) or a client.

    `limit` bounds a message in bytes, with all its fragments. A message that would exceed it is rejected by
    its head, before its payload arrives. Input after a `Close` or a `Violation` is ignored.
    """

    def __init__(self, limit: int, *, masked: bool) -> None:
        self._limit = limit
        self._masked = masked
        self._rules = FrameRules(limit, masked=masked)
        self._frames = FrameReader(limit, self._rules.check)
        self._opcode = TEXT
        self._parts = bytearray()
        self._over = False
        self.is_between = masked
        """No message or frame is in progress, so the fast path of `feed` applies."""

    @property
    def in_message(self) -> bool:
        """Whether a message has begun that has further frames."""
        return self._rules.in_message

    @property
    def expected(self) -> int:
        """Bytes of the message in progress, by the heads of its frames so far."""
        head = self._frames.head
        return len(self._parts) + (0 if head is None else head.length)

    def feed(self, data: bytes) -> list[WebSocketEvent]:
        # Fast path: nearly all input is one whole masked text message. Only the checks that can fail for such
        # a frame are made here; everything else is left to the rules.
        if self.is_between and len(data) > 7 and data[0] == _WHOLE_TEXT:
            length, start = data[1] - _MASKED, 6
            if length == _TWO_BYTES:
                length, start = data[2] << 8 | data[3], 8
            # Lengths of eight bytes, and lengths not in their shortest form, are left to the rules, too.
            usual = (start == 8) == (length >= _TWO_BYTES)
            if usual and len(data) == start + length and length <= self._limit:
                return [self._text(masked(data[start:], data[start - 4 : start]))]
        return self._feed(data)

    def _feed(self, data: bytes) -> list[WebSocketEvent]:
        events: list[WebSocketEvent] = []
        if self._over:
            return events
        for item in self._frames.feed(data):
            event = item if isinstance(item, Violation) else self._take(item)
            if event is not None:
                events.append(event)
            if isinstance(event, Close | Violation):
                self.drop()
                break
        between = self._frames.is_between and not self._rules.in_message
        self.is_between = self._masked and between and not self._over
        return events

    def drop(self) -> None:
        """Free an incomplete message, and read nothing more."""
        self._over, self.is_between = True, False
        self._parts.clear()
        self._frames.drop()

    def _take(self, incoming: Frame) -> WebSocketEvent | None:
        if incoming.opcode == PING:
            return Ping(incoming.payload)
        if incoming.opcode == PONG:
            return Pong(incoming.payload)
        if incoming.opcode == CLOSE:
            return read_close(incoming.payload)
        if incoming.opcode != CONTINUATION:
            self._opcode = incoming.opcode
            if incoming.fin:
                return self._finish(incoming.payload)
        # Joined at once: many empty fragments must not become many objects.
        self._parts += incoming.payload
        if not incoming.fin:
            return None
        payload = bytes(self._parts)
        self._parts.clear()
        return self._finish(payload)

    def _finish(self, payload: bytes) -> WebSocketEvent:
        return self._text(payload) if self._opcode == TEXT else payload

    def _text(self, payload: bytes) -> str | Violation:
        try:
            return payload.decode()
        except UnicodeDecodeError as error:
            self.drop()
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
        return Violation(PROTOCOL_ERROR, "close frame with an invalid code")
    return Close(code, reason)
