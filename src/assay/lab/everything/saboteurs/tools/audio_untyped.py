"""Whoever plays it will find out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a sound does not say that it is WAV", breaks="tools-call-audio")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_audio_content" and "result" in reply:
        reply["result"]["content"][0]["mimeType"] = "application/octet-stream"
    return reply
