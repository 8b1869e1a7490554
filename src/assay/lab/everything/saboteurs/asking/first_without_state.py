"""The first of two questions comes without state."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the first of two questions comes without `requestState`", breaks="sep-2322-multi-round-r1")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("multi_round")) or {}
    if "inputResponses" not in context.params:
        result.pop("requestState", None)
    return reply
