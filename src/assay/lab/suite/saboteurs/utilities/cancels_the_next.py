"""A cancellation that finds nothing to cancel waits for something."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.model.error import INTERNAL_ERROR


@on_request("after a late cancellation the next request fails", breaks="CAN-08")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") == "notifications/cancelled":
        context.memory["waiting"] = True
    if "id" not in message or not context.memory.pop("waiting", False):
        return message
    error = {"code": INTERNAL_ERROR, "message": "cancelled"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
