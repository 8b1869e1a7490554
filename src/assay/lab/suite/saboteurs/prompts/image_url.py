"""An image is given by its address."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the data of an image is a URL", breaks="PR-05", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            message["content"]["data"] = "https://assay.example/red.png"
    return reply
