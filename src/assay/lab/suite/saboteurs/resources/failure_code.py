"""Whatever goes wrong while reading gets code 0."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a failed read gets code 0", breaks="RS-11")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/read" or "result" not in reply:
        return reply
    return {
        "jsonrpc": "2.0",
        "id": reply["id"],
        "error": {"code": 0, "message": "[Errno 5] Input/output error"},
    }
