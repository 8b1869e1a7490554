"""The healthy answers of scripted saboteurs: a minimal server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.registry import DATES
from assay.revisions.revision import Revision

from .saboteur import Conversation, Json

SERVER = {"name": "saboteur", "version": "1"}


async def serve_minimal(conversation: Conversation, revision: Revision) -> AsyncIterator[Json]:
    """Answer every message until the driver disconnects, and yield each of them afterwards."""
    while (message := await conversation.receive()) is not None:
        answer = minimal_answer(message, revision)
        if answer is not None:
            conversation.send(answer)
        yield message


def minimal_answer(message: Any, revision: Revision) -> Json | None:
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    results: dict[str, Json] = {
        "ping": {},
        "initialize": {"protocolVersion": revision.date, "capabilities": {}, "serverInfo": SERVER},
        "server/discover": {
            "resultType": "complete",
            "supportedVersions": list(DATES),
            "capabilities": {},
            "ttlMs": 0,
            "cacheScope": "public",
        },
    }
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in results:
        return {**reply, "result": results[message["method"]]}
    return {**reply, "error": {"code": METHOD_NOT_FOUND, "message": "no such method"}}
