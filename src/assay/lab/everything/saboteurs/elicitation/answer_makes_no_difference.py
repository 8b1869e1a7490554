"""Whatever the user says, the tool goes on."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("declining is the same as accepting", breaks="tools-call-elicitation")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_elicitation" and "result" in reply:
        reply["result"]["content"] = [{"type": "text", "text": "Thank you"}]
    return reply
