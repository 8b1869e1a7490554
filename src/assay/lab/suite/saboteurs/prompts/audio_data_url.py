"""A sound is given as a data URL, ready for a browser."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("audio data has a prefix that is no base64", breaks="PR-06", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            data = f"data:audio/wav;base64,{message['content']['data']}"
            message["content"] = {"type": "audio", "data": data, "mimeType": "audio/wav"}
    return reply
