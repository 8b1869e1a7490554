"""Every choice has a name beside it."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an untitled choice has `enumNames`", breaks="elicitation-sep1330-untitled-single")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["untitledSingle"]["enumNames"] = ["One", "Two", "Three"]
    return reply
