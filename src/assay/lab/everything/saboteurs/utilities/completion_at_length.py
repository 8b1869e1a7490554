"""Everything that is known is offered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a completion has 101 values", breaks="completion-complete")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "result" in reply:
        reply["result"]["completion"] = {"values": [f"value {number}" for number in range(101)]}
    return reply
