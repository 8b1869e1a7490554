"""Newline-delimited messages, as stdio carries them.

Bytes go in, whole lines come out. How the bytes were cut into chunks never changes what comes out, and the
framer never holds more than one line of at most `limit` bytes: what is too long is reported once and dropped
as it arrives. Whether a line is JSON is not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LineTooLong:
    """Stands where a line longer than `limit` bytes would have been."""

    limit: int


class LineFramer:
    """Cut a byte stream into lines; `limit` counts a line's bytes without its terminator."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._discarding = False

    @property
    def held(self) -> int:
        """How many bytes of an unfinished line are kept."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes | LineTooLong]:
        """Return the lines that `data` completes, in order; blank lines are left out."""
        # One message per chunk is what pipes deliver nearly always: no splitting, no buffer.
        if data.find(b"\n") == len(data) - 1 and not self._held and not self._discarding:
            return self._finish(data[:-1])
        pieces = data.split(b"\n")
        rest = pieces.pop()
        found: list[bytes | LineTooLong] = []
        for piece in pieces:
            found += self._close(piece)
        return found + self._hold(rest)

    def end(self) -> list[bytes | LineTooLong]:
        """Return the last line when the input ended without its newline."""
        return self._close(b"")

    def _close(self, piece: bytes) -> list[bytes | LineTooLong]:
        if self._discarding:
            self._discarding = False
            return []
        line = bytes(self._held) + piece
        self._held.clear()
        return self._finish(line)

    def _hold(self, piece: bytes) -> list[bytes | LineTooLong]:
        if self._discarding:
            return []
        self._held += piece
        # A final CR may belong to the terminator, so it does not count until another byte follows it.
        if len(self._held) - self._held.endswith(b"\r") <= self._limit:
            return []
        # A fresh buffer, because clearing would keep the memory of an over-long chunk.
        self._held = bytearray()
        self._discarding = True
        return [LineTooLong(self._limit)]

    def _finish(self, line: bytes) -> list[bytes | LineTooLong]:
        line = line.removesuffix(b"\r")
        if len(line) > self._limit:
            return [LineTooLong(self._limit)]
        return [line] if line and not line.isspace() else []


def frame(message: bytes) -> bytes:
    """Add the newline that ends a message.

    Raises:
        ValueError: the message holds a raw newline, which JSON would have escaped.
    """
    if b"\n" in message:
        raise ValueError("a message on one line cannot hold a raw newline")
    return message + b"\n"
