"""Discovery was thought to be optional."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("`server/discover` is not implemented", breaks="VER-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "server/discover":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
