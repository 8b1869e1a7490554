"""The last name is forgotten."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a choice has fewer names than values", breaks="elicitation-sep1330-legacy-enumnames")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["legacyEnum"]["enumNames"].pop()
    return reply
