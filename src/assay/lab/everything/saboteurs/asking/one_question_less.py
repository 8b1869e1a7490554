"""One of three questions is not asked."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.driver.question import ROOTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("of three questions two are asked", breaks="sep-2322-multiple-inputs-incomplete")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("multiple_inputs")) or {}
    asked = result.get("inputRequests", {})
    for key in [key for key, question in asked.items() if question["method"] == ROOTS]:
        del asked[key]
    return reply
