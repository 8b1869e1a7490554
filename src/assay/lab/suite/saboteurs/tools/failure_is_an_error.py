"""An exception in a tool reaches the JSON-RPC layer."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("a tool that fails is error -32603", breaks="TL-20", scenario="tools.read-only-calls")
def change(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {})
    if context.method != "tools/call" or not result.get("isError"):
        return reply
    error = {"code": INTERNAL_ERROR, "message": "Internal error"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
