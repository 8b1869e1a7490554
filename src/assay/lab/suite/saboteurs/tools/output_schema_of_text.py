"""An output schema made from a function that returns a string."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the root of an output schema is a string", breaks="TL-17", scenario="tools.read-only-calls")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"]["tools"][0]["outputSchema"] = {"type": "string"}
    return reply
