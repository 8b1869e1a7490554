"""The head of a response, and how its body is framed."""

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
"""Statuses that have no body, whatever their headers say (RFC 9110, 6.4.1)."""
OURS: Final = frozenset({b"connection", b"transfer-encoding"})
"""How the connection is used is said once, by whoever holds it; ASGI wants the application's word ignored."""
NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
UNPRINTABLE: Final = re.compile(rb"[\0-\x08\n-\x1f\x7f]")


class Head(NamedTuple):
    """Status and headers as bytes, with what they say about the body and the connection."""

    lines: bytes
    length: int | None
    closes: bool
    dated: bool


def make_head(status: int, headers: Iterable[Iterable[bytes]]) -> Head:
    """
    Raises:
        ValueError: no head can say this.
    """
    pairs = [(bytes(name).lower(), bytes(value)) for name, value in headers]
    for name, value in pairs:
        if NAME.fullmatch(name) is None or UNPRINTABLE.search(value) is not None:
            raise ValueError(f"not a valid response header: {name!r}: {value!r}")
    if not 200 <= status <= 999:
        raise ValueError(f"not the status of a response: {status}")
    return Head(
        lines(status, [pair for pair in pairs if pair[0] not in OURS]),
        _length([value for name, value in pairs if name == b"content-length"]),
        any(name == b"connection" and b"close" in _tokens(value) for name, value in pairs),
        any(name == b"date" for name, _ in pairs),
    )


def _length(given: list[bytes]) -> int | None:
    if not given:
        return None
    if len(given) > 1 or not given[0].isdigit():
        raise ValueError(f"not a content-length: {b', '.join(given)!r}")
    return int(given[0])


def _tokens(value: bytes) -> list[bytes]:
    return [token.strip() for token in value.lower().split(b",")]


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
