"""Numbers are whole."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a number's default is rounded", breaks="elicitation-sep1034-number-default")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["score"]["default"] = 95
    return reply
