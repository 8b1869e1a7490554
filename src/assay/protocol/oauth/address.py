"""Which URLs a client may use, and how they relate to the server that named them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from assay.model.client_error import AuthorizationFailed

PORTS: Final = {"http": 80, "https": 443}
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
AMBIGUOUS: Final = re.compile(r"[\x00-\x20\x7f\\\"<>^`{|}]|[^\x00-\x7f]")
"""Characters that parsers read differently: the host that is checked could differ from the one used."""
URL_CHARACTERS: Final = 2000


def check_url(url: object, purpose: str) -> str:
    """An https URL, or an http one on this machine, that all parsers read alike.

    Raises:
        AuthorizationFailed: it is something else.
    """
    parts = split(url) if isinstance(url, str) else None
    if parts is None:
        raise AuthorizationFailed(f"{purpose} is not a usable URL: {str(url)[:200]!r}")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise AuthorizationFailed(
            f"{purpose} must be https, because it is not on this machine: {str(url)[:200]!r}"
        )
    assert isinstance(url, str)
    return url


def split(url: str) -> SplitResult | None:
    """The parts of an http or https URL; None for anything else."""
    if len(url) > URL_CHARACTERS or AMBIGUOUS.search(url):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and "@" not in parts.netloc else None


def origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]


def base(url: str) -> str:
    """The URL without path, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def covers(resource: str, url: str) -> bool:
    """Whether a resource identifier is that of a server, or of a path that contains it."""
    parts = split(resource)
    if parts is None or "#" in resource or origin(resource) != origin(url):
        return False
    inner = urlsplit(url)
    if parts.query:
        return (parts.path, parts.query) == (inner.path, inner.query)
    return f"{inner.path.rstrip('/')}/".startswith(f"{parts.path.rstrip('/')}/")


def server_url(url: str) -> str:
    """The URL of an MCP server as a resource: of a WebSocket that of HTTP, without fragment and needless
    slash."""
    for socket, plain in (("wss://", "https://"), ("ws://", "http://")):
        if url.startswith(socket):
            url = plain + url.removeprefix(socket)
    url = url.partition("#")[0]
    return url.rstrip("/") if urlsplit(url).path == "/" and "?" not in url else url
