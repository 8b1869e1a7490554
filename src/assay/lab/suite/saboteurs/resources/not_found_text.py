"""The refusal is given as if it were what the resource holds."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an unknown resource holds the text that it was not found", breaks="RS-08")
def change(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or "error" not in reply or not isinstance(uri, str):
        return reply
    contents = [{"uri": uri, "mimeType": "text/plain", "text": f"Resource not found: {uri}"}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
