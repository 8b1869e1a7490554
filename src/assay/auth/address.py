"""URL checks: which URLs may receive secrets, and when two URLs are the same."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS: Final = {"http": "80", "https": "443"}
SOCKETS: Final = {"ws": "http", "wss": "https"}
AMBIGUOUS: Final = re.compile(r"[\x00-\x20\x7f\\]|[^/]\[|\][^:/]")
"""Characters that `urlsplit` drops or reads differently from other parsers; brackets only enclose a host."""
ENCODED: Final = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def canonical(text: str) -> str:
    """Normalize a URL for comparison: lower-case scheme and host, no default port, `/` for an empty path, no
    needless percent-encoding (RFC 3986, 6.2.2 and 6.2.3). Any other text is returned unchanged."""
    parts = _split(text)
    if parts is None:
        return text
    host = parts.netloc.lower().removesuffix(f":{PORTS[parts.scheme]}")
    path = ENCODED.sub(_decoded, parts.path) or "/"
    return parts._replace(netloc=host, path=path).geturl()


def target(text: str) -> str:
    """The URL of a request without query and fragment, with the scheme of a WebSocket mapped to HTTP's."""
    plain = text.partition("#")[0].partition("?")[0]
    scheme, separator, rest = plain.partition("://")
    return canonical(f"{SOCKETS.get(scheme.lower(), scheme)}{separator}{rest}")


def check_address(text: str, option: str, *, allow_http: bool = False) -> str:
    """Accept an https URL, or an http one on this machine.

    Raises:
        ValueError: The URL is neither, or has a user, a query or a fragment.
    """
    parts = _split(text)
    if parts is None or parts.query or parts.fragment or re.search(r"[\s\"\\<>]", text):
        raise ValueError(f"{option} must be an http or https URL without query and fragment: {text!r}")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK and not allow_http:
        raise ValueError(
            f"{option} must be https, or on this machine: {text!r}; allow_http=True permits plain http"
        )
    return text


def _split(text: str) -> SplitResult | None:
    if AMBIGUOUS.search(text):
        # Parsers disagree about such text: the host checked here could differ from the host connected to.
        return None
    try:
        parts = urlsplit(text)
        known = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if known and "@" not in parts.netloc else None


def _decoded(escape: re.Match[str]) -> str:
    letter = chr(int(escape[1], 16))
    return letter if letter in UNRESERVED else escape[0].upper()
