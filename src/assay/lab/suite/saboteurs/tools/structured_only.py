"""Text is left out where there is structured content."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("structured content comes without text", breaks="TL-14")
def change(reply: Json, context: FaultContext) -> Json:
    if "structuredContent" in reply.get("result", {}):
        reply["result"]["content"] = []
    return reply
