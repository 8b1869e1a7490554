"""`ping` is a method like any other, and not implemented."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("ping gets -32601", breaks="PNG-01")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "ping":
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": METHOD_NOT_FOUND, "message": "no ping"}}
