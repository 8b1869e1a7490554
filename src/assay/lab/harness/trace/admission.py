"""Who was let in: HTTP requests in a trace, by the kind of token that they showed."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.subject.bearer import BEARER

from .trace import Call, Trace


def calls_with(trace: Trace, *kinds: str) -> Iterator[tuple[str, Call]]:
    """Requests on connections that show a token of one of these kinds, and the kind."""
    shown = {one.connection: one.info.get("shows") for one in trace.marks(BEARER)}
    for call in trace.calls:
        kind = shown.get(call.request.connection)
        if isinstance(kind, str) and kind in kinds and call.head is not None:
            yield kind, call


def is_let_in(call: Call) -> bool:
    """Whether the server did what it was asked, or switched to another protocol to do so."""
    return call.status == 101 or (200 <= call.status < 300 and call.code is None)


def told(call: Call) -> str:
    """What came of a request, for readers of findings."""
    code = "" if call.code is None else f" and error {call.code}"
    return f"status {call.status}{code}"


def is_public(call: Call) -> bool:
    """Whether it asks for what everybody may read."""
    return "/.well-known/" in call.sent.target


def in_query(call: Call) -> bool:
    """Whether a token is in the address."""
    return "access_token=" in call.sent.target


def is_opening(call: Call) -> bool:
    """Whether it asks the endpoint itself for something, or for a WebSocket."""
    asks = call.sent.method == "POST" or call.sent.get("upgrade") is not None
    return asks and not in_query(call)
