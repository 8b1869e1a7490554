"""Addresses: which may be trusted with secrets, and when two of them are the same."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS: Final = {"http": "80", "https": "443"}
SOCKETS: Final = {"ws": "http", "wss": "https"}
BLURRED: Final = re.compile(r"[\x00-\x20\x7f\\]|[^/]\[|\][^:/]")
"""What `urlsplit` passes over, or reads in another way than others do; brackets stand around a host."""
ENCODED: Final = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def canonical(text: str) -> str:
    """A URL as it is compared: the case of scheme and host, a default port, an empty path and needless
    percent signs make no difference (RFC 3986, 6.2.2 and 6.2.3). Anything else is compared as it is."""
    parts = _split(text)
    if parts is None:
        return text
    host = parts.netloc.lower().removesuffix(f":{PORTS[parts.scheme]}")
    path = ENCODED.sub(_decoded, parts.path) or "/"
    return parts._replace(netloc=host, path=path).geturl()


def target(text: str) -> str:
    """What a request is sent to: without query and fragment, and as a WebSocket is asked for by HTTP."""
    plain = text.partition("#")[0].partition("?")[0]
    scheme, separator, rest = plain.partition("://")
    return canonical(f"{SOCKETS.get(scheme.lower(), scheme)}{separator}{rest}")


def check_address(text: str, what: str, *, allow_http: bool = False) -> str:
    """An https URL, or an http one of this machine.

    Raises:
        ValueError: it is neither, or has a user, a query or a fragment.
    """
    parts = _split(text)
    if parts is None or parts.query or parts.fragment or re.search(r"[\s\"\\<>]", text):
        raise ValueError(f"{what} must be an http or https URL without query and fragment: {text!r}")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK and not allow_http:
        raise ValueError(
            f"{what} must be https, or on this machine: {text!r}; allow_http=True trusts the wire"
        )
    return text


def _split(text: str) -> SplitResult | None:
    if BLURRED.search(text):
        return None
    try:
        parts = urlsplit(text)
        known = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if known and "@" not in parts.netloc else None


def _decoded(found: re.Match[str]) -> str:
    letter = chr(int(found[1], 16))
    return letter if letter in UNRESERVED else found[0].upper()
