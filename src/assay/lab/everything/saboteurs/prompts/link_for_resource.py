"""The resource is only linked to."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a resource is not embedded", breaks="prompts-get-embedded-resource")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        reply["result"]["messages"][0]["content"] = {"type": "text", "text": "See test://example-resource"}
    return reply
