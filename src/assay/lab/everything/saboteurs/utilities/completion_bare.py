"""The values are the result."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a completion is a bare list", breaks="completion-complete")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "result" in reply:
        reply["result"] = reply["result"]["completion"]
    return reply
