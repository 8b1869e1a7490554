"""Samples only."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a WAV has no header", breaks="tools-call-audio")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_audio_content" and "result" in reply:
        reply["result"]["content"][0]["data"] = "gICAgICAgIA="
    return reply
