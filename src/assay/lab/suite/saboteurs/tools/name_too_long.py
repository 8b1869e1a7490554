"""A name made of the whole path of what it calls."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool has a name of 200 characters", breaks="TL-07")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0]["name"] = "service.v1." + "x" * 189
    return reply
