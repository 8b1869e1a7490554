"""What a request says of itself, as checks read it: version, capabilities, or that something is missing."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness import Trace
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.links.http_text import parse_head
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.registry import SELF_DESCRIBING
from assay.revisions.revision import Revision

REQUIRED: Final = (VERSION_KEY, CAPABILITIES_KEY)


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def meta_of(exchange: Exchange) -> dict[str, Any]:
    return as_object(exchange.params.get("_meta"))


def capabilities_of(exchange: Exchange) -> dict[str, Any]:
    """What the client declared with this very request."""
    return as_object(meta_of(exchange).get(CAPABILITIES_KEY))


def reply_to(exchange: Exchange, trace: Trace) -> Message | None:
    """Its answer; or the error in the HTTP response to it, which may lack the id."""
    if exchange.answer is not None or exchange.head is None:
        return exchange.answer
    here = exchange.request.frame.channel
    return next((one for one in trace.received if one.error and one.frame.channel == here), None)


def told(exchange: Exchange, reply: Message | None) -> str:
    """What came back, in a few words."""
    status = "" if exchange.head is None else f", HTTP {exchange.head.status}"
    return f"{reply or 'no JSON-RPC error'}{status}"


def is_of(exchange: Exchange, revision: Revision) -> bool:
    """Whether the request is one of this revision, and complete: others may be answered as another's."""
    meta = meta_of(exchange)
    return meta.get(VERSION_KEY) == revision.date and CAPABILITIES_KEY in meta


def missing(exchange: Exchange, revision: Revision) -> list[str]:
    """Which required fields a request of this revision lacks; none where it may be of another."""
    meta = meta_of(exchange)
    lacking = [key for key in REQUIRED if key not in meta]
    if VERSION_KEY not in lacking:
        return lacking if meta[VERSION_KEY] == revision.date else []
    return lacking if _must_be_of(exchange, revision) else []


def _must_be_of(exchange: Exchange, revision: Revision) -> bool:
    frame = exchange.request.frame
    if frame.kind is Kind.REQUEST:
        return parse_head(frame.raw).get("mcp-protocol-version") == revision.date
    return exchange.method in SELF_DESCRIBING
