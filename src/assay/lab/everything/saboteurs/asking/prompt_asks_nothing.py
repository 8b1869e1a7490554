"""A prompt that needs input wants some, and asks nothing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a prompt wants input and does not say what", breaks="sep-2322-non-tool-incomplete")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "inputRequests" in reply.get("result", {}):
        reply["result"]["inputRequests"] = {}
        reply["result"].setdefault("requestState", "nothing to ask")
    return reply
