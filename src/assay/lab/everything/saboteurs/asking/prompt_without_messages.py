"""A prompt whose question is answered has no messages."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a prompt whose question is answered has no messages", breaks="sep-2322-non-tool-complete")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "messages" in reply.get("result", {}):
        reply["result"]["messages"] = []
    return reply
