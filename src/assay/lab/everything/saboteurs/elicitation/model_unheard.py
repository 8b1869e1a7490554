"""The model is asked, and its words are lost."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("what the model said does not reach the result", breaks="tools-call-sampling")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_sampling" and "result" in reply:
        reply["result"]["content"] = [{"type": "text", "text": "LLM response: none"}]
    return reply
