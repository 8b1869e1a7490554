"""The second question comes with the state of the first."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the second question comes with the state of the first", breaks="sep-2322-multi-round-r2")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("multi_round")) or {}
    if "requestState" in result and "requestState" in context.params:
        result["requestState"] = context.params["requestState"]
    return reply
