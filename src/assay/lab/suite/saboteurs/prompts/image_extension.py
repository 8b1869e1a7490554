"""The type of an image is the end of its file name."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the MIME type of an image is its file extension", breaks="PR-05", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            message["content"]["mimeType"] = "png"
    return reply
