"""A server of templates alone thinks that it need not list."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("`resources/list` is not implemented, though `resources` is declared", breaks="RS-05")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/list":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
