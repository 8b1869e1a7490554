"""Any tool can be called, even one that does not exist."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an unknown tool is answered with an empty result", breaks="TL-19")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" not in reply:
        return reply
    result = {"content": [], "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
