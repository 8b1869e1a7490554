"""A title where the name should be."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool is named as people would say it", breaks="TL-10")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0]["name"] = "Get weather, now"
    return reply
