"""HTTP/1.1 messages in a stream of bytes that somebody else forwards: read strictly, never repaired.

What two readers may frame differently (RFC 9112, 6.1 to 6.3 and 11.2) is not interpreted here at all: the
stream counts as unreadable from there on, so that no byte of a body is taken for a head.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final, Protocol

from assay.lab.harness.links.http_text import HEAD_END

MAX_HEAD: Final = 64 * 1024
MAX_SIZE_LINE: Final = 256
"""Bytes of the line with the size of a chunk."""
MAX_TRAILERS: Final = 16 * 1024
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
CACHED: Final = 4096
"""Bytes of a head that is worth keeping: clients send nearly the same one again and again."""
_DIGITS: Final = re.compile(rb"[0-9]{1,18}")
_HEXADECIMAL: Final = re.compile(rb"[0-9A-Fa-f]{1,15}")


class Unreadable(ValueError):
    """The bytes have no unambiguous reading as HTTP/1.1."""


class HeadFields:
    """The start line of a head, and the headers that framing and grouping depend on."""

    def __init__(self, raw: bytes) -> None:
        """
        Raises:
            Unreadable: readers may frame what follows differently.
        """
        if raw.count(b"\n") != raw.count(b"\r\n"):
            raise Unreadable("a line of the head ends without a carriage return")
        if b"\r\n " in raw or b"\r\n\t" in raw:
            raise Unreadable("a header is continued on a second line")
        self.raw = raw
        first, *lines = raw[: -len(HEAD_END)].split(b"\r\n")
        self.words = first.split(b" ")
        self._values: dict[bytes, bytes] = {}
        for line in lines:
            name, _, value = line.partition(b":")
            key, value = name.lower(), value.strip(b" \t")
            if key.endswith((b" ", b"\t")):
                raise Unreadable(f"a space before the colon of {key.decode('latin-1').strip()[:80]}")
            if key in _FRAMING and self._values.get(key, value) != value:
                raise Unreadable(f"two different values of {key.decode()}")
            self._values[key] = value

    def get(self, name: bytes) -> bytes:
        """The value of a header, empty if it is missing."""
        return self._values.get(name, b"")

    @cached_property
    def media_type(self) -> bytes:
        return self.get(b"content-type").partition(b";")[0].strip().lower()

    @cached_property
    def status(self) -> int:
        """
        Raises:
            Unreadable: not a response.
        """
        words = self.words
        is_response = len(words) > 1 and words[0].startswith(b"HTTP/1.")
        if not is_response or not words[1].isdigit() or len(words[1]) != 3:
            raise Unreadable(f"status line {self.raw[:80]!r}")
        return int(words[1])

    @cached_property
    def length(self) -> int | None:
        """The body's length; None for a chunked body, and -1 if there is neither.

        Raises:
            Unreadable: both, or a value that readers take differently.
        """
        coding, length = self._values.get(b"transfer-encoding"), self._values.get(b"content-length")
        if coding is not None:
            if length is not None:
                raise Unreadable("both content-length and transfer-encoding")
            if coding.lower() != b"chunked":
                raise Unreadable(f"transfer-encoding {coding[:80]!r}")
            return None
        if length is None:
            return -1
        if not _DIGITS.fullmatch(length):
            raise Unreadable(f"content-length {length[:80]!r}")
        return int(length)


@lru_cache(maxsize=256)
def _cached(raw: bytes) -> HeadFields:
    return HeadFields(raw)


def read_head(raw: bytes) -> HeadFields:
    """
    Raises:
        Unreadable: readers may frame what follows differently.
    """
    return _cached(raw) if len(raw) <= CACHED else HeadFields(raw)


class Body(Enum):
    """Where a body ends, if neither a length nor chunks say so."""

    NONE = 0
    UNTIL_CLOSE = 1
    OTHER_PROTOCOL = 2
    """HTTP ends here."""


class Sink(Protocol):
    def on_head(self, fields: HeadFields) -> int | Body | None:
        """Returns how the body is framed: its length, None for chunks, or otherwise."""

    def on_body(self, data: bytes) -> None: ...

    def on_end(self) -> None: ...

    def on_rest(self, data: bytes) -> None:
        """Bytes after the switch to another protocol."""

    def on_unreadable(self, problem: str) -> None:
        """Nothing more is read."""


class HttpStream:
    """Reads the messages of one direction. Each byte is searched once, however small the pieces are."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._buffer = bytearray()
        self._searched = 0
        self._left = 0
        self._step: Callable[[], bool] | None = self._head
        self.in_message = False
        self.consumed = 0
        """Bytes that were read as messages, or as parts of some."""

    @property
    def waiting(self) -> int:
        """Bytes that do not yet have a meaning."""
        return len(self._buffer)

    @property
    def is_in_head(self) -> bool:
        return self._step == self._head

    def feed(self, data: bytes) -> None:
        if self._step is None:
            return
        self._buffer += data
        try:
            while self._buffer and self._step is not None and self._step():
                pass
        except Unreadable as problem:
            self.stop()
            self._sink.on_unreadable(str(problem))

    def stop(self) -> None:
        """Read nothing more."""
        self._step = None
        self._buffer.clear()

    def end(self) -> bool:
        """The connection ended; returns whether that completes what was read."""
        if self._step == self._until_close:
            self._finish()
        return not self.in_message and not self._buffer

    def _take(self, count: int) -> bytes:
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        self._searched = 0
        self.consumed += count
        return data

    def _find(self, end: bytes, most: int, part: str) -> int:
        """The place after `end`; 0 while it is missing."""
        place = self._buffer.find(end, self._searched)
        if place < 0 and len(self._buffer) <= most:
            self._searched = max(len(self._buffer) - len(end) + 1, 0)
            return 0
        if place < 0 or place > most:
            raise Unreadable(f"{part} longer than {most} bytes")
        return place + len(end)

    def _head(self) -> bool:
        if not self.in_message and self._buffer.startswith(b"\r\n"):  # RFC 9112, 2.2
            self._take(2)
            return True
        self.in_message = True
        end = self._find(HEAD_END, MAX_HEAD, "a head")
        if not end:
            return False
        framing = self._sink.on_head(read_head(self._take(end)))
        if framing is None:
            self._step = self._chunk_size
        elif framing is Body.UNTIL_CLOSE:
            self._step = self._until_close
        elif framing is Body.OTHER_PROTOCOL:
            self.in_message = False
            self._step = self._other_protocol
        elif framing is Body.NONE or framing == 0:
            self._finish()
        else:
            assert isinstance(framing, int)
            self._left, self._step = framing, self._length
        return True

    def _finish(self) -> None:
        self._step, self.in_message = self._head, False
        self._sink.on_end()

    def _length(self) -> bool:
        data = self._take(min(self._left, len(self._buffer)))
        self._left -= len(data)
        self._sink.on_body(data)
        if not self._left:
            self._finish()
        return True

    def _until_close(self) -> bool:
        self._sink.on_body(self._take(len(self._buffer)))
        return True

    def _other_protocol(self) -> bool:
        self._sink.on_rest(self._take(len(self._buffer)))
        return True

    def _chunk_size(self) -> bool:
        end = self._find(b"\r\n", MAX_SIZE_LINE, "the line with the size of a chunk")
        if not end:
            return False
        size = self._take(end)[:-2].partition(b";")[0]
        if not _HEXADECIMAL.fullmatch(size):
            raise Unreadable(f"size of a chunk {size[:80]!r}")
        self._left = int(size, 16)
        self._step = self._chunk if self._left else self._trailers
        return True

    def _chunk(self) -> bool:
        data = self._take(min(self._left, len(self._buffer)))
        self._left -= len(data)
        self._sink.on_body(data)
        if not self._left:
            self._step = self._chunk_end
        return True

    def _chunk_end(self) -> bool:
        if len(self._buffer) < 2:
            return False
        if self._take(2) != b"\r\n":
            raise Unreadable("a chunk is longer than its size")
        self._step = self._chunk_size
        return True

    def _trailers(self) -> bool:
        if self._buffer.startswith(b"\r\n"):
            self._take(2)
            self._finish()
            return True
        if self._buffer == b"\r":
            return False
        end = self._find(HEAD_END, MAX_TRAILERS, "trailers")
        if not end:
            return False
        self._take(end)
        self._finish()
        return True
