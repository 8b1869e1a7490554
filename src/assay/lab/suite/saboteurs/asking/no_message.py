"""The user is shown a form and not told what for."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an elicitation has no message", breaks="EL-04")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params.pop("message")
    return reply
