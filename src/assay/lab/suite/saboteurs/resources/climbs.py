"""Paths are joined to a folder and opened, wherever they lead."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

HOSTS = "127.0.0.1\tlocalhost\n"


@on_reply("`..` in a path is followed", breaks="RS-16")
def change(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or not isinstance(uri, str) or "/../" not in uri:
        return reply
    contents = [{"uri": uri, "mimeType": "text/plain", "text": HOSTS}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
