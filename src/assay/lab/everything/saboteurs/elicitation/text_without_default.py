"""The text begins empty."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a string has no default", breaks="elicitation-sep1034-string-default")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["name"].pop("default")
    return reply
