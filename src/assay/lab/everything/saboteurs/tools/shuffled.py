"""The list comes from a set."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the order of the tools changes from list to list", breaks="tools-list-deterministic-order")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        context.memory["times"] = context.memory.get("times", 0) + 1
        reply["result"]["tools"].sort(key=lambda tool: tool["name"], reverse=context.memory["times"] % 2 == 0)
    return reply
