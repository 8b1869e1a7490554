"""Prompts begin with instructions for the model."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a message has role system", breaks="PR-08")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        reply["result"]["messages"][0]["role"] = "system"
    return reply
