"""What the resource is can be guessed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an embedded resource has no mimeType", breaks="tools-call-embedded-resource")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_embedded_resource" and "result" in reply:
        reply["result"]["content"][0]["resource"].pop("mimeType")
    return reply
