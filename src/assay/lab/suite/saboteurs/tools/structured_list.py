"""Structured content is put into a list, since there may be several one day."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("structured content is a list", breaks="TL-17")
def change(reply: Json, context: FaultContext) -> Json:
    if "structuredContent" in reply.get("result", {}):
        reply["result"]["structuredContent"] = [reply["result"]["structuredContent"]]
    return reply
