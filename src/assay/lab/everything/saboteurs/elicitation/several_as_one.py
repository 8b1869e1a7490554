"""Several choices are one string."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a multiple choice is a string", breaks="elicitation-sep1330-untitled-multi")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["untitledMulti"]["type"] = "string"
    return reply
