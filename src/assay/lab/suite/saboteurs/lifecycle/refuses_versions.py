"""A version that is not supported is an error."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_PARAMS
from assay.revisions.registry import BY_DATE


@on_reply("an unsupported version is refused with an error", breaks="LIFE-10")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and context.params.get("protocolVersion") not in BY_DATE:
        error = {"code": INVALID_PARAMS, "message": "unsupported protocol version"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply
