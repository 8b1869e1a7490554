"""A question comes without the state that goes with it."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a question comes without `requestState`", breaks="sep-2322-request-state-incomplete")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("request_state")) or {}
    result.pop("requestState", None)
    return reply
