"""Each page of a list decides for itself who may keep it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the second page of a list has another `cacheScope`", breaks="CA-04")
def change(reply: Json, context: FaultContext) -> Json:
    if "cursor" in context.params and "result" in reply:
        reply["result"]["cacheScope"] = "private"
    return reply
