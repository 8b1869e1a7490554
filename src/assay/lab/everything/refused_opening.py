"""The fault that every scenario of tasks begins by looking for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json

from .extension import declares_tasks


def refused_opening(reply: Json, context: FaultContext) -> Json:
    """Refuse who declares the extension, where the driver asks what the server is."""
    if context.method == "server/discover" and declares_tasks(context.params):
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32603, "message": "what is that?"}}
    return reply
