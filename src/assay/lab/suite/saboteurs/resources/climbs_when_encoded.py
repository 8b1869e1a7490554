"""Paths are looked at before they are decoded."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

HOSTS = "127.0.0.1\tlocalhost\n"


@on_reply("`..` in a path is followed where it is percent-encoded", breaks="RS-16")
def change(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or not isinstance(uri, str) or "%2e%2e" not in uri:
        return reply
    contents = [{"uri": uri, "mimeType": "text/plain", "text": HOSTS}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
