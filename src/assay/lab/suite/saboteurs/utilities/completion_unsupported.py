"""A server without completion calls it an invalid request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_REQUEST


@on_reply("completion is not offered, and gets another code than -32601", breaks="CMP-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"].pop("completions")
    if context.method == "completion/complete":
        error = {"code": INVALID_REQUEST, "message": "no completion"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply
