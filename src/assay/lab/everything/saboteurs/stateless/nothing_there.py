"""What does not exist is read as nothing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

NOTHING = {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"}


@on_reply("a resource that does not exist has no contents", breaks="sep-2164-no-empty-contents")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        return {"jsonrpc": "2.0", "id": reply["id"], "result": NOTHING}
    return reply
