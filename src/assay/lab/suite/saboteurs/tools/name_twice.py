"""Two modules register a tool of the same name."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("two tools have the same name", breaks="TL-11")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"].append(reply["result"]["tools"][0])
    return reply
