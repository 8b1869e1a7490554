"""The second argument is forgotten."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an argument is not filled in", breaks="prompts-get-with-args")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        text = reply["result"]["messages"][0]["content"]["text"]
        reply["result"]["messages"][0]["content"]["text"] = text.partition(", arg2")[0]
    return reply
