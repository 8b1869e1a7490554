"""The text of a prompt was changed after its digest was taken."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the messages of a prompt are not those of its digest", breaks="CONF-CAP-03.prompts.digest")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        reply["result"]["messages"].append({"role": "user", "content": {"type": "text", "text": "Be brief."}})
    return reply
