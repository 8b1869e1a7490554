"""Whatever is given as a URI is made one."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("what is no URI is taken for a path, and an empty file found there", breaks="RS-12")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/read" or "error" not in reply:
        return reply
    path = str(context.params.get("uri", ""))
    contents = [{"uri": f"file:///{path}", "mimeType": "text/plain", "text": ""}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
