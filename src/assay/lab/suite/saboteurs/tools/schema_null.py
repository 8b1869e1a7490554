"""A tool without arguments has no schema."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`inputSchema` is null", breaks="TL-06")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0]["inputSchema"] = None
    return reply
