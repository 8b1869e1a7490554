"""Authorization in a trace: challenges, metadata of the protected resource, and requests by their token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.subject.bearer import BEARER

from .trace import Call, Trace

HEADER: Final = "www-authenticate"
SCHEME: Final = "bearer"
METADATA: Final = "resource_metadata"
_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PART: Final = re.compile(rf'({_TOKEN})\s*(?:(=)\s*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN})?))?')
WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


class Challenge(Struct, frozen=True):
    scheme: str
    """In lower case."""
    params: dict[str, str]

    @property
    def scopes(self) -> list[str]:
        return self.params.get("scope", "").split()


def challenges(head: Head | None) -> list[Challenge]:
    """The challenges in all `WWW-Authenticate` headers of a response."""
    parsed: list[Challenge] = []
    for value in [] if head is None else head.all(HEADER):
        for name, equals, quoted, plain in _PART.findall(value):
            if not equals:
                parsed.append(Challenge(name.lower(), {}))
            elif parsed:
                parsed[-1].params[name.lower()] = re.sub(r"\\(.)", r"\1", quoted) or plain
    return parsed


def bearer_challenge(head: Head | None) -> Challenge | None:
    """The first challenge for bearer tokens, if any."""
    return next((challenge for challenge in challenges(head) if challenge.scheme == SCHEME), None)


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
    if not isinstance(resource, str):
        return False
    try:
        parts = urlsplit(resource)
        host, below = _endpoint(trace)
    except ValueError:
        return False
    path = parts.path.rstrip("/")
    return same_host(parts.netloc, host) and f"{below}/".startswith(f"{path}/")


def _endpoint(trace: Trace) -> tuple[str, str]:
    """Host and path of the endpoint: where messages were sent, else the address of the subject."""
    post = next((call.sent for call in trace.calls if call.sent.method == "POST"), None)
    if post is not None:
        return post.get("host") or "", post.target.partition("?")[0]
    parts = urlsplit(trace.header.subject)
    return parts.netloc, parts.path


def same_host(left: str, right: str) -> bool:
    """Ports on this machine are not compared: there may be a proxy or a container in between."""
    return left.lower() == right.lower() or (is_local(left) and is_local(right))


def calls_with(trace: Trace, *kinds: str) -> Iterator[tuple[str, Call]]:
    """Requests on connections that carry a token of one of these kinds, with the kind."""
    kind_of = {mark.connection: mark.info.get("shows") for mark in trace.marks(BEARER)}
    for call in trace.calls:
        kind = kind_of.get(call.request.connection)
        if isinstance(kind, str) and kind in kinds and call.head is not None:
            yield kind, call


def is_admitted(call: Call) -> bool:
    """Whether the server carried out the request, or switched protocols for it."""
    return call.status == 101 or (200 <= call.status < 300 and call.code is None)


def outcome_text(call: Call) -> str:
    """The outcome of a request, for findings."""
    code = "" if call.code is None else f" and error {call.code}"
    return f"status {call.status}{code}"


def is_public(call: Call) -> bool:
    """Whether the request is for a public document."""
    return "/.well-known/" in call.sent.target


def in_query(call: Call) -> bool:
    """Whether the URL contains an access token."""
    return "access_token=" in call.sent.target


def is_opening(call: Call) -> bool:
    """Whether the request is a POST to the endpoint or a WebSocket upgrade."""
    asks = call.sent.method == "POST" or call.sent.get("upgrade") is not None
    return asks and not in_query(call)
