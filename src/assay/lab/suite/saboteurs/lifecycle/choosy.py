"""Clients without a title are not talked to."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_PARAMS


@on_reply("a supported version is refused, because of something else", breaks="LIFE-09")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "title" not in context.params.get("clientInfo", {}):
        error = {"code": INVALID_PARAMS, "message": "clientInfo.title is required"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply
