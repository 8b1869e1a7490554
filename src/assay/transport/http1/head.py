"""The head of a response, and how its body is framed."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from http import HTTPStatus
from typing import Final, NamedTuple

STATUS_LINES: Final = {
    int(status): f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
CLOSE: Final = b"connection: close\r\n"
CHUNKED: Final = b"transfer-encoding: chunked\r\n"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
BODILESS: Final = frozenset({204, 304})
"""Statuses that have no body, whatever their headers say (RFC 9110, 6.4.1)."""


class Head(NamedTuple):
    """Status and headers as bytes, with what they say about the body and the connection."""

    lines: bytes
    length: int | None
    closes: bool


def make_head(status: int, headers: Collection[tuple[bytes, bytes]]) -> Head:
    """
    Raises:
        ValueError: a header would break out of its line.
    """
    fields = dict(headers)
    # Whether the connection stays is said once, by whoever holds it.
    closes = fields.pop(b"connection", b"").lower() == b"close"
    length = fields.get(b"content-length")
    kept = [pair for pair in headers if pair[0] != b"connection"]
    return Head(lines(status, kept), None if length is None else int(length), closes)


@lru_cache(maxsize=64)
def lines_again(status: int, headers: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """The same for headers that many answers have."""
    return lines(status, headers)


def lines(status: int, headers: Collection[tuple[bytes, bytes]]) -> bytes:
    """Status line and header lines, without the empty line that ends a head."""
    written = (STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status) + b"".join(
        [b"%b: %b\r\n" % pair for pair in headers]
    )
    expected = len(headers) + 1
    if written.count(b"\n") != expected or written.count(b"\r") != expected:
        raise ValueError("a response header holds a line break")
    return written


def chunk(part: bytes) -> bytes:
    """A part of a chunked body; an empty one would end it, and so is left out."""
    return b"%x\r\n%b\r\n" % (len(part), part) if part else b""
