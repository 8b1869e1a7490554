"""The reading succeeds, and there is nothing in it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a text is read as an empty text", breaks="resources-read-text")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        reply["result"]["contents"][0]["text"] = ""
    return reply
