"""A sound comes without saying what it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("audio has an empty MIME type", breaks="PR-06", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            message["content"] = {"type": "audio", "data": message["content"]["data"], "mimeType": ""}
    return reply
