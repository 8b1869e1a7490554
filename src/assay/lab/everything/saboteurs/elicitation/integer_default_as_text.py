"""A form is made of texts."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an integer's default is a text", breaks="elicitation-sep1034-integer-default")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["age"]["default"] = "30"
    return reply
