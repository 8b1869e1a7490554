"""A resource comes without saying what it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an embedded resource has no MIME type", breaks="PR-07", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "resource":
            message["content"]["resource"].pop("mimeType")
    return reply
