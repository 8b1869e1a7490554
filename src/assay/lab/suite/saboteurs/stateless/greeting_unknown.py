"""The handshake is an unknown method, and that is all that a client learns."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.model.error import METHOD_NOT_FOUND


@on_request("`initialize` is refused without a word on versions", breaks="VER-10")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "initialize":
        return message
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
