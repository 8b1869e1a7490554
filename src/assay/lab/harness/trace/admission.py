"""HTTP requests in a trace by the kind of token they carried, and whether the server admitted them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.subject.bearer import BEARER

from .trace import Call, Trace


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
