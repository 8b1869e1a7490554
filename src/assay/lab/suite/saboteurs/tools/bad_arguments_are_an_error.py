"""Arguments are validated where the request is, and refused like one."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_PARAMS


@on_reply("arguments that do not fit are error -32602", breaks="TL-21", scenario="tools.bad-arguments")
def change(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {})
    if context.method != "tools/call" or not result.get("isError"):
        return reply
    error = {"code": INVALID_PARAMS, "message": "Invalid arguments"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
