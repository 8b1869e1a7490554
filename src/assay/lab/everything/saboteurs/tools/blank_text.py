"""Nobody has filled in what the tool says."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a text is empty", breaks="tools-call-simple-text")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_simple_text" and "result" in reply:
        reply["result"]["content"][0]["text"] = ""
    return reply
