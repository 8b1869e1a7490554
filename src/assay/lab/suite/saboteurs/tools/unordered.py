"""The tools come out of a set, each time in another order."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("every second reading has the tools the other way round", breaks="TL-05")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        if "cursor" not in context.params:
            context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            reply["result"]["tools"].reverse()
    return reply
