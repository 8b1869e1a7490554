"""A schema is promised and not kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("structured content does not fit the output schema", breaks="TL-15")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "structuredContent" in reply.get("result", {}):
        reply["result"]["structuredContent"] = {"made": "up"}
    return reply
