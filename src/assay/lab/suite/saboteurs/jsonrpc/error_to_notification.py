"""An unknown notification is refused like an unknown request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.model.error import METHOD_NOT_FOUND


@on_request("an unknown notification gets -32601", breaks="BASE-10", scenario="jsonrpc.notifications")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "notifications/no-such-notification":
        return message
    error = {"code": METHOD_NOT_FOUND, "message": "there is no such method"}
    return Answered([{"jsonrpc": "2.0", "id": None, "error": error}])
