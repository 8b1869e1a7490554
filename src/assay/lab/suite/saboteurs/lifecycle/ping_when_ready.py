"""Nothing is answered before the client is ready, not even a ping."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.model.error import INVALID_REQUEST


@on_request("ping is refused before `notifications/initialized`", breaks="PNG-01")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") == "notifications/initialized":
        context.memory["ready"] = True
    if message.get("method") != "ping" or "ready" in context.memory:
        return message
    error = {"code": INVALID_REQUEST, "message": "not initialized"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
