"""The name says it all."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool has no description", breaks="tools-list")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0].pop("description")
    return reply
