"""Each page begins with the last thing of the page before."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a page repeats something of the page before", breaks="PAG-02")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        tools = reply["result"]["tools"]
        if "cursor" in context.params and "last" in context.memory:
            tools.insert(0, context.memory["last"])
        context.memory["last"] = tools[-1]
    return reply
