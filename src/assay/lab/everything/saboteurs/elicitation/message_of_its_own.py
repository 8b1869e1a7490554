"""The user is asked what the server likes to know."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("elicitation does not show the message that was given", breaks="tools-call-elicitation")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["message"] = "Who are you?"
    return reply
