"""The head of a response, and the framing of its body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
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
"""Statuses without a body, regardless of their headers (RFC 9110, 6.4.1)."""
SERVER_HEADERS: Final = frozenset({b"connection", b"transfer-encoding"})
"""Only the server writes these, because it manages the connection. The application's are dropped."""
NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
UNPRINTABLE: Final = re.compile(rb"[\0-\x08\n-\x1f\x7f]")


class ResponseHead(NamedTuple):
    """Status and headers as bytes, and what they imply for the body and the connection."""

    lines: bytes
    length: int | None
    closes: bool
    dated: bool


def make_head(status: int, headers: Iterable[Iterable[bytes]]) -> ResponseHead:
    """
    Raises:
        ValueError: the status or a header cannot be written.
    """
    pairs = [(bytes(name).lower(), bytes(value)) for name, value in headers]
    for name, value in pairs:
        if NAME.fullmatch(name) is None or UNPRINTABLE.search(value) is not None:
            raise ValueError(f"not a valid response header: {name!r}: {value!r}")
    if not 200 <= status <= 999:
        raise ValueError(f"not the status of a response: {status}")
    return ResponseHead(
        head_lines(status, [pair for pair in pairs if pair[0] not in SERVER_HEADERS]),
        _length([value for name, value in pairs if name == b"content-length"]),
        any(name == b"connection" and b"close" in _tokens(value) for name, value in pairs),
        any(name == b"date" for name, _ in pairs),
    )


def _length(values: list[bytes]) -> int | None:
    if not values:
        return None
    # Two lengths would let a proxy and a client disagree about where the response ends (RFC 9112, 6.3).
    if len(values) > 1 or not values[0].isdigit():
        raise ValueError(f"not a content-length: {b', '.join(values)!r}")
    return int(values[0])


def _tokens(value: bytes) -> list[bytes]:
    return [token.strip() for token in value.lower().split(b",")]


@lru_cache(maxsize=64)
def cached_head_lines(status: int, headers: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """`head_lines` for headers that many responses share."""
    return head_lines(status, headers)


def head_lines(status: int, headers: Collection[tuple[bytes, bytes]]) -> bytes:
    """Status line and header lines, without the empty line that ends a head.

    Raises:
        ValueError: a header contains a line break, by which its value could add headers.
    """
    head = (STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status) + b"".join(
        [b"%b: %b\r\n" % pair for pair in headers]
    )
    expected = len(headers) + 1
    if head.count(b"\n") != expected or head.count(b"\r") != expected:
        raise ValueError("a response header contains a line break")
    return head


def chunk(part: bytes) -> bytes:
    """A part of a chunked body. An empty part is left out: an empty chunk ends the body (RFC 9112, 7.1)."""
    return b"%x\r\n%b\r\n" % (len(part), part) if part else b""
