"""The list of resources says nothing of caches."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the list of resources has no hints for caches", breaks="sep-2549-resources-list-caching-hints")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/list" and "result" in reply:
        for hint in ("ttlMs", "cacheScope"):
            reply["result"].pop(hint, None)
    return reply
