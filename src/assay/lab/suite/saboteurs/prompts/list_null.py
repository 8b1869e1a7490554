"""No prompts are null, and so are some."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`prompts` is null", breaks="PR-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        reply["result"]["prompts"] = None
    return reply
