"""Self-describing requests: the version and capabilities in `_meta`, and fields that are missing there."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness import Trace
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.separation import APART, connections
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.registry import SELF_DESCRIBING
from assay.revisions.revision import Opening, Revision

REQUIRED: Final = (VERSION_KEY, CAPABILITIES_KEY)
BARRED: Final = frozenset({400, 401, 403, 405, 406, 415, 429, 503})
"""HTTP statuses of requests that are refused for their headers, or for now."""


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def capabilities_of(exchange: Exchange) -> dict[str, Any]:
    """The capabilities that the client declares with this request."""
    return as_object(exchange.meta.get(CAPABILITIES_KEY))


def reply_to(exchange: Exchange, trace: Trace) -> Message | None:
    """The reply, or the error in the HTTP response, which may lack the id."""
    if exchange.answer is not None or exchange.head is None:
        return exchange.answer
    channel = exchange.request.frame.channel
    errors = (message for message in trace.received if message.error)
    return next((message for message in errors if message.frame.channel == channel), None)


def outcome(exchange: Exchange, reply: Message | None) -> str:
    """The reply and the HTTP status, for findings."""
    status = "" if exchange.head is None else f", HTTP {exchange.head.status}"
    return f"{reply or 'no JSON-RPC error'}{status}"


def is_of_revision(exchange: Exchange, revision: Revision) -> bool:
    """Whether a request is a complete request of this revision; others may be answered by other rules."""
    meta = exchange.meta
    return meta.get(VERSION_KEY) == revision.date and CAPABILITIES_KEY in meta


def is_usual(exchange: Exchange, trace: Trace) -> bool:
    """Whether a request has nothing special that a server may refuse: it is complete, its message and its
    headers are sound, it has no cursor, and it is not on a connection for malformed input."""
    if "cursor" in exchange.params or exchange.request.frame.connection in connections(trace, APART):
        return False
    complete = trace.revision.opening is Opening.HANDSHAKE or is_of_revision(exchange, trace.revision)
    barred = exchange.head is not None and exchange.head.status in BARRED
    return complete and not barred and type(exchange.request.id) in (int, str)


def missing_fields(exchange: Exchange, revision: Revision) -> list[str]:
    """The required fields that a request lacks, if it can only be of this revision."""
    meta = exchange.meta
    lacking = [key for key in REQUIRED if key not in meta]
    if VERSION_KEY not in lacking:
        return lacking if meta[VERSION_KEY] == revision.date else []
    return lacking if _must_be_of(exchange, revision) else []


def _must_be_of(exchange: Exchange, revision: Revision) -> bool:
    frame = exchange.request.frame
    if frame.kind is Kind.REQUEST:
        return parse_head(frame.raw).get("mcp-protocol-version") == revision.date
    return exchange.method in SELF_DESCRIBING
