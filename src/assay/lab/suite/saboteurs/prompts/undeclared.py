"""Prompts are there, and nobody is told."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the capabilities do not mention prompts", breaks="PR-01")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"].pop("prompts")
    return reply
