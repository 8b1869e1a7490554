"""What can be used is only known on a connection after it was listed there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import INVALID_PARAMS


@on_request("nothing works on a connection before discovery", breaks="BASE-29", transports=STDIO_ONLY)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") == "server/discover":
        context.memory["discovered"] = True
    if "discovered" in context.memory or "id" not in message:
        return message
    error = {"code": INVALID_PARAMS, "message": "not initialized"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
