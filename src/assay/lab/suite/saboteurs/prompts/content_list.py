"""Content is a list of blocks, as in the interface of a model."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the content of a message is a list", breaks="PR-08")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        for message in reply["result"]["messages"]:
            message["content"] = [message["content"]]
    return reply
