"""A conversation in a few figures: versions, both sides, and how many messages of which kind."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from assay.lab.harness.driver.message_meta import CLIENT_KEY, SERVER_KEY

from .message import Message, Shape
from .trace import Exchange, Trace

_OPENINGS: Final = ("initialize", "server/discover")
_KINDS: Final = {
    Shape.REQUEST: "requests",
    Shape.NOTIFICATION: "notifications",
    Shape.RESULT: "results",
    Shape.ERROR: "errors",
    Shape.UNKNOWN: "other",
}
MOST: Final = 1000
"""Characters of a name or version: a subject chooses them."""
MOST_METHODS: Final = 100


def summary(trace: Trace, *, of_client: bool) -> dict[str, Any]:
    """What a trace shows, whatever the checks make of it. The subject is the client, or the server."""
    exchanges = trace.all_subject_exchanges if of_client else trace.all_exchanges
    opening = next((exchange for exchange in exchanges if exchange.method in _OPENINGS), None)
    known: dict[str, Any] = {} if opening is None else _parties(opening)
    sent = Counter(message.method for message in trace.messages if _is_from_client(message, of_client))
    return {
        "protocolVersion": trace.header.revision,
        **known,
        "connections": len({frame.connection for frame in trace.frames if frame.raw}),
        "fromClient": _counts(trace, of_client=of_client, from_client=True),
        "fromServer": _counts(trace, of_client=of_client, from_client=False),
        "methods": {method[:MOST]: count for method, count in sorted(sent.items())[:MOST_METHODS] if method},
    }


def _is_from_client(message: Message, of_client: bool) -> bool:
    return message.by_subject == of_client


def _counts(trace: Trace, *, of_client: bool, from_client: bool) -> dict[str, int]:
    messages = [message for message in trace.messages if _is_from_client(message, of_client) == from_client]
    counted = Counter(_KINDS[message.shape] for message in messages)
    return {kind: counted[kind] for kind in _KINDS.values() if counted[kind]}


def _parties(opening: Exchange) -> dict[str, Any]:
    result = opening.result or {}
    meta = result.get("_meta") if isinstance(result.get("_meta"), dict) else {}
    parties = {
        "protocolVersion": result.get("protocolVersion"),
        "client": _implementation(opening.params.get("clientInfo") or opening.meta.get(CLIENT_KEY)),
        "server": _implementation(result.get("serverInfo") or (meta or {}).get(SERVER_KEY)),
    }
    return {key: value for key, value in parties.items() if isinstance(value, str) and value}


def _implementation(info: Any) -> str:
    """Name and version in one text."""
    if not isinstance(info, dict):
        return ""
    parts = (info.get("name"), info.get("version"))
    return " ".join(part[:MOST] for part in parts if isinstance(part, str))
