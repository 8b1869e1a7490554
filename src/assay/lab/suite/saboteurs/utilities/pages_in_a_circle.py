"""The last page leads to itself."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a list that never ends", breaks="PAG-02")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply and "cursor" in context.params:
        reply["result"].setdefault("nextCursor", context.params["cursor"])
    return reply
