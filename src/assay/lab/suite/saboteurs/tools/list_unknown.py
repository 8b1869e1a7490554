"""Tools are declared, and the method that lists them was forgotten."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("`tools/list` is not a known method", breaks="TL-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/list":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
