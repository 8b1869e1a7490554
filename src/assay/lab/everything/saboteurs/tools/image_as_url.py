"""The data is a link to where the data is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an image is not in Base64", breaks="tools-call-image")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_image_content" and "result" in reply:
        reply["result"]["content"][0]["data"] = "data:image/png;base64,AAAA"
    return reply
