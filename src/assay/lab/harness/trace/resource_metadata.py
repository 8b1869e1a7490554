"""Metadata of a protected resource (RFC 9728): possible locations, and the documents in a trace."""

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
    """A response to a request for metadata; `content` is empty if the response holds none."""

    call: Call
    content: dict[str, Any]

    def __str__(self) -> str:
        resource = f", resource {self.content.get('resource')!r}" if self.content else ""
        return f"{self.call.sent.target}: status {self.call.status}{resource}"


def candidate_paths(endpoint: str, authority: str, challenge_url: str | None) -> list[str]:
    """Paths where the metadata may be: the URL in the challenge and the two well-known locations. URLs on
    other hosts are left out."""
    path = endpoint.partition("?")[0].rstrip("/")
    candidates = [path_on(authority, challenge_url or ""), f"{WELL_KNOWN}{path}", WELL_KNOWN]
    return [candidate for candidate in dict.fromkeys(candidates) if candidate]


def path_on(authority: str, url: str) -> str:
    """The path of a URL on this host; empty for another host or an invalid URL."""
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
        content = msgspec.json.decode(call.body) if call.status == 200 else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return content if isinstance(content, dict) else {}


def describes_endpoint(document: Document, trace: Trace) -> bool:
    """Whether the document describes the driver's endpoint, or a resource that contains it."""
    resource = document.content.get("resource")
    endpoint = next((call.sent for call in trace.calls if call.sent.method == "POST"), None)
    if not isinstance(resource, str) or endpoint is None:
        return False
    try:
        parts = urlsplit(resource)
    except ValueError:
        return False
    path = parts.path.rstrip("/")
    below = endpoint.target.partition("?")[0]
    return same_host(parts.netloc, endpoint.get("host") or "") and f"{below}/".startswith(f"{path}/")


def same_host(left: str, right: str) -> bool:
    """Ports on this machine are not compared: there may be a proxy or a container in between."""
    return left.lower() == right.lower() or (is_local(left) and is_local(right))
