"""A message is anybody's."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a message has no role", breaks="prompts-get-simple")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        reply["result"]["messages"][0].pop("role")
    return reply
