"""The head of a request: its target, and what refuses it before the application is called."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import httptools

from assay.protocol.http.head_policy import Headers, Refusal

ABSOLUTE: Final = re.compile(rb"https?://([^/?#]+)([^?#]*)\??([^#]*)", re.IGNORECASE)
UPGRADE_HEADERS: Final = (b"upgrade", b"http2-settings")


class RequestRefused(Exception):
    """Raised inside a callback of the parser, which stops it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


Target = tuple[str, bytes, bytes, bytes | None]
"""Decoded path, raw path, query, and the authority of an absolute URL, which takes precedence over the Host
header (RFC 9112, 3.2.2). A plain tuple, because every request unpacks one."""


@lru_cache(maxsize=64)
def read_target(target: bytes) -> Target:
    """
    Raises:
        RequestRefused: neither a path nor an HTTP URL.
    """
    if target[:1] == b"/":
        raw_path, _, query = target.partition(b"#")[0].partition(b"?")
        return _decoded(raw_path), raw_path, query, None
    if target == b"*":
        return "*", target, b"", None
    absolute = ABSOLUTE.match(target)
    if absolute is None:
        raise RequestRefused(Refusal(400, "the request target must be a path, or a URL of http or https"))
    authority, raw_path, query = absolute.groups()
    raw_path = raw_path or b"/"
    return _decoded(raw_path), raw_path, query, authority


def refusal_for(error: Exception) -> Refusal:
    """The response to a request that the parser rejects. An exception from one of our callbacks is the
    context of the parser's error.

    Raises:
        Exception: a callback has a bug.
    """
    cause = error.__context__
    if isinstance(cause, RequestRefused):
        return cause.refusal
    if cause is not None and isinstance(error, httptools.HttpParserCallbackError):
        raise cause
    return Refusal(400, f"not a valid HTTP request: {error or type(error).__name__}")


def with_host(authority: bytes, headers: Headers) -> Headers:
    return [(b"host", authority), *(pair for pair in headers if pair[0] != b"host")]


def size_of_head(target: bytes, headers: Headers) -> int:
    return len(target) + sum(len(name) + len(value) + 4 for name, value in headers)


def head_without_upgrade(method: bytes, target: bytes, version: str, headers: Headers) -> bytes:
    """The same head without the request for another protocol."""
    lines = [b"%b: %b\r\n" % pair for pair in headers if pair[0] not in UPGRADE_HEADERS]
    return b"%b %b HTTP/%b\r\n%b\r\n" % (method, target, version.encode(), b"".join(lines))


def expects_continue(version: str, headers: Headers) -> bool:
    """Whether the client waits for `100 Continue` before it sends its body (RFC 9110, 10.1.1)."""
    return version == "1.1" and any(
        name == b"expect" and value.lower() == b"100-continue" for name, value in headers
    )


def _decoded(raw_path: bytes) -> str:
    text = raw_path.decode("latin-1")
    return unquote(text) if "%" in text else text
