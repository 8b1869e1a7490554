"""A list may be kept by a scope that does not exist."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`cacheScope` is `shared`", breaks="sep-2549-cache-scope-valid")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/list" and "result" in reply:
        reply["result"]["cacheScope"] = "shared"
    return reply
