"""Newline-delimited messages, as used on stdio.

The output does not depend on how the input was split into chunks. The framer buffers at most one line of
`limit` bytes: a longer line is reported once and discarded as it arrives.
"""

from __future__ import annotations

from msgspec import Struct


class LineTooLong(Struct, frozen=True):
    """Takes the place of a line longer than `limit` bytes."""

    limit: int


class LineFramer:
    """Splits a byte stream into lines; `limit` is the size of a line without its terminator."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._discarding = False

    @property
    def held(self) -> int:
        """Bytes buffered of an unfinished line."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes | LineTooLong]:
        """Return the lines that `data` completes, in order, without blank ones."""
        # Pipes nearly always deliver one message per chunk: no splitting, no buffer.
        if data.find(b"\n") == len(data) - 1 and not self._held and not self._discarding:
            return self._finish(data[:-1])
        pieces = data.split(b"\n")
        rest = pieces.pop()
        lines: list[bytes | LineTooLong] = []
        for piece in pieces:
            lines += self._close(piece)
        return lines + self._hold(rest)

    def end(self) -> list[bytes | LineTooLong]:
        """Return the last line, if the input ended without its newline."""
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
        # A new buffer: `clear` may keep the memory of an over-long chunk.
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
        ValueError: the message contains a raw newline, which JSON would have escaped.
    """
    if b"\n" in message:
        raise ValueError("a message on one line cannot contain a raw newline")
    return message + b"\n"
