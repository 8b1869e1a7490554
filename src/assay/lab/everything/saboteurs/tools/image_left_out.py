"""Texts and resources are enough."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("one of the kinds of content is left out", breaks="tools-call-mixed-content")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_multiple_content_types" and "result" in reply:
        reply["result"]["content"] = [one for one in reply["result"]["content"] if one["type"] != "image"]
    return reply
