"""Nothing was found, so nothing is in it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an unknown resource has empty `contents`", breaks="RS-09")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/read" or "error" not in reply:
        return reply
    result = {"contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
