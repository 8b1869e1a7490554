"""The fault that every scenario of tasks begins by looking for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn

from .extension import declares_tasks


def refused_opening(reply: Json, turn: Turn) -> Json:
    """Refuse who declares the extension, where the driver asks what the server is."""
    if turn.method == "server/discover" and declares_tasks(turn.params):
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32603, "message": "what is that?"}}
    return reply
