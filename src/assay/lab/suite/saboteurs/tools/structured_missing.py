"""The output schema is published, and results come as text only."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool with an output schema returns no structured content", breaks="TL-15")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call":
        reply.get("result", {}).pop("structuredContent", None)
    return reply
