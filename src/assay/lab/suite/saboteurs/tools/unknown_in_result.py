"""A tool that does not exist is a tool that failed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an unknown tool is a result with `isError`", breaks="TL-19")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "error" not in reply:
        return reply
    text = reply["error"]["message"]
    typed = {"resultType": "complete"} if "server/discover" in context.revision.requests else {}
    result = {"content": [{"type": "text", "text": text}], "isError": True, **typed}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
