"""Who cancels is told that it was cancelled."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.lab.harness.transport import STDIO_ONLY


@on_request("a cancelled request is answered with an error", breaks="CAN-06", transports=STDIO_ONLY)
def change(message: Json, context: FaultContext) -> Json | Answered:
    cancelled = params_of(message).get("requestId")
    if message.get("method") != "notifications/cancelled" or cancelled is None:
        return message
    error = {"code": 0, "message": "Request cancelled"}
    return Answered([{"jsonrpc": "2.0", "id": cancelled, "error": error}])
