"""The user is asked what a model should be."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

FORM = {"type": "object", "properties": {"capital": {"type": "string"}}}


@on_reply("the user is asked in place of the model", breaks="sep-2322-sampling-incomplete")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("sampling")) or {}
    for question in result.get("inputRequests", {}).values():
        question["method"] = ELICIT
        question["params"] = {"message": "What is the capital of France?", "requestedSchema": FORM}
    return reply
