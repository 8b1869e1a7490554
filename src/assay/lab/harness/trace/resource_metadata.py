"""The metadata of a protected resource (RFC 9728): where it may be, and what came from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_call import is_local

from .trace import Call, Trace

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


class Document(Struct, frozen=True):
    """An answer to a question for metadata; without content where it holds none."""

    call: Call
    content: dict[str, Any]

    def __str__(self) -> str:
        named = f", resource {self.content.get('resource')!r}" if self.content else ""
        return f"{self.call.sent.target}: status {self.call.status}{named}"


def places(endpoint: str, authority: str, told: str | None) -> list[str]:
    """Where the metadata may be: at the URL that a challenge told, and at the two well-known addresses.
    Only what is on the server itself is looked at."""
    path = endpoint.partition("?")[0].rstrip("/")
    found = [path_on(authority, told or ""), f"{WELL_KNOWN}{path}", WELL_KNOWN]
    return [each for each in dict.fromkeys(found) if each]


def path_on(authority: str, url: str) -> str:
    """The path of a URL that is there; empty where it is elsewhere, or none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.path if same_host(parts.netloc, authority) else ""


def documents(trace: Trace) -> Iterator[Document]:
    for call in trace.calls:
        if call.sent.method == "GET" and "/.well-known/" in call.sent.target and call.head is not None:
            yield Document(call, _content(call))


def _content(call: Call) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(call.body) if call.status == 200 else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def is_of(document: Document, trace: Trace) -> bool:
    """Whether it is about the endpoint that the driver talks to, or all of the server that it is on."""
    named = document.content.get("resource")
    endpoint = next((call.sent for call in trace.calls if call.sent.method == "POST"), None)
    if not isinstance(named, str) or endpoint is None:
        return False
    try:
        parts = urlsplit(named)
    except ValueError:
        return False
    path = parts.path.rstrip("/")
    below = endpoint.target.partition("?")[0]
    return same_host(parts.netloc, endpoint.get("host") or "") and f"{below}/".startswith(f"{path}/")


def same_host(one: str, other: str) -> bool:
    """Ports of this machine are not compared: a proxy or a container may stand between."""
    return one.lower() == other.lower() or (is_local(one) and is_local(other))
