"""The picture is a sentence, neatly encoded."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an image is no image", breaks="tools-call-image")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_image_content" and "result" in reply:
        reply["result"]["content"][0]["data"] = "bm90IGEgcGljdHVyZQ=="
    return reply
