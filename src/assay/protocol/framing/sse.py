"""Server-sent events: write them, and parse them by the WHATWG rules within a size limit.

The payload stays bytes: the JSON codec checks its UTF-8, so that a broken payload is refused there and not
silently repaired here. An event that the end of the stream cuts off is dropped and does not change
`last_event_id`: a client that resumed after it would lose the message.
https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BOM: Final = b"\xef\xbb\xbf"
# More than any delay needs, and far fewer than the digits at which `int` raises.
RETRY_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event; `event_id` is None if the event itself has no id."""

    data: bytes
    event_id: str | None = None
    event: str = "message"


class SseTooLong(ValueError):
    """An event or a line exceeded the limit; `events` are those completed earlier in the same chunk."""

    def __init__(self, limit: int, events: tuple[SseEvent, ...] = ()) -> None:
        super().__init__(limit, events)
        self.limit = limit
        self.events = events

    def __str__(self) -> str:
        return f"server-sent event longer than the limit: {self.limit} bytes"


def event(data: bytes, *, event_id: str | None = None) -> bytes:
    """Write one message event; `data` is JSON on one line."""
    if b"\n" in data or b"\r" in data:
        raise ValueError("event data must be on one line")
    head = b"" if event_id is None else _id_line(event_id)
    return b"%bevent: message\ndata: %b\n\n" % (head, data)


def priming(event_id: str, retry_ms: int | None = None) -> bytes:
    """Write an event with an id and no content, so that a client can resume before the first message."""
    wait = b"" if retry_ms is None else _retry_line(retry_ms)
    return b"%b%bdata: \n\n" % (_id_line(event_id), wait)


def retry(ms: int) -> bytes:
    """Write the delay after which the client should reconnect."""
    return _retry_line(ms) + b"\n"


def comment(text: str = "") -> bytes:
    """Write a line that clients ignore, to keep the connection alive."""
    _refuse(text, "\r\n", "comment")
    return f": {text}\n\n".encode() if text else b":\n\n"


def _id_line(event_id: str) -> bytes:
    # Clients ignore an id that contains NUL, and a line break would let the id inject other fields.
    _refuse(event_id, "\r\n\0", "event id")
    return f"id: {event_id}\n".encode()


def _retry_line(ms: int) -> bytes:
    if ms < 0:
        raise ValueError(f"retry cannot be negative: {ms}")
    return b"retry: %d\n" % ms


def _refuse(text: str, characters: str, kind: str) -> None:
    if any(character in text for character in characters):
        raise ValueError(f"{kind} must be on one line, without NUL: {text!r}")


class SseParser:
    """Parses events from bytes in chunks of any size.

    `limit` bounds the line in progress together with the stored fields of its event.
    """

    def __init__(self, limit: int) -> None:
        self.comments = 0
        self.last_event_id = ""
        self.retry_ms: int | None = None
        self._limit = limit
        self._line = bytearray()
        self._at_start = True
        self._after_cr = False
        self._failed = False
        self._data: bytes | bytearray | None = None
        self._event = ""
        self._event_id: str | None = None
        self._stored = 0
        self._fields = {
            b"data": self._on_data,
            b"event": self._on_event,
            b"id": self._on_id,
            b"retry": self._on_retry,
        }

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that `data` completes.

        Raises:
            SseTooLong: the limit was exceeded; the parser cannot be used any more.
        """
        events: list[SseEvent] = []
        for piece in self._without_split_crlf(data).splitlines(keepends=True):
            line = piece.rstrip(b"\r\n")
            self._extend(line, events)
            if len(line) < len(piece):
                events += self._close_line()
        return events

    def _without_split_crlf(self, data: bytes) -> bytes:
        """Drop the LF of a CRLF that was split between two chunks."""
        if not data:
            return data
        second_half = self._after_cr and data.startswith(b"\n")
        self._after_cr = data.endswith(b"\r")
        return data[1:] if second_half else data

    def _extend(self, line: bytes, events: list[SseEvent]) -> None:
        if self._failed or self._stored + len(self._line) + len(line) > self._limit:
            self._failed = True
            self._line = bytearray()
            raise SseTooLong(self._limit, tuple(events))
        self._line += line

    def _close_line(self) -> list[SseEvent]:
        line = bytes(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        if not line:
            return self._dispatch()
        self._read_field(line)
        return []

    def _read_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if not name:
            self.comments += 1
        elif name in self._fields:
            self._stored += len(line)
            self._fields[name](value.removeprefix(b" "))

    def _on_data(self, value: bytes) -> None:
        if self._data is None:
            self._data = value  # nearly always the only line
            return
        if isinstance(self._data, bytes):
            # Not a list of lines: each object takes far more memory than a line of a few bytes.
            self._data = bytearray(self._data)
        self._data += b"\n"
        self._data += value

    def _on_event(self, value: bytes) -> None:
        self._event = value.decode(errors="replace")

    def _on_id(self, value: bytes) -> None:
        if b"\0" not in value:
            self._event_id = value.decode(errors="replace")

    def _on_retry(self, value: bytes) -> None:
        if value.isdigit() and len(value) <= RETRY_DIGITS:
            self.retry_ms = int(value)

    def _dispatch(self) -> list[SseEvent]:
        # By the WHATWG rules, an id takes effect even if the block has no data and dispatches no event.
        if self._event_id is not None:
            self.last_event_id = self._event_id
        data, event_id, event = self._data, self._event_id, self._event
        self._begin_event()
        return [] if data is None else [SseEvent(bytes(data), event_id, event or "message")]

    def _begin_event(self) -> None:
        self._data = None
        self._event = ""
        self._event_id = None
        self._stored = 0
