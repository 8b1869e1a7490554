"""A scope of caches is named as other protocols name it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`cacheScope` is `shared`", breaks="CA-01")
def change(reply: Json, context: FaultContext) -> Json:
    if "cacheScope" in reply.get("result", {}):
        reply["result"]["cacheScope"] = "shared"
    return reply
