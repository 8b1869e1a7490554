"""All that fits is sent, however much it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a completion has more than 100 values", breaks="CMP-02")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "result" in reply:
        reply["result"]["completion"]["values"] = [f"value {number}" for number in range(101)]
    return reply
