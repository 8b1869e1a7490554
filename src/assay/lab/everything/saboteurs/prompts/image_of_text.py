"""The picture is a sentence, neatly encoded."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an image is no image", breaks="prompts-get-with-image")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        reply["result"]["messages"][0]["content"]["data"] = "bm90IGEgcGljdHVyZQ=="
    return reply
