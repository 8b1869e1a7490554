"""A mode of elicitation that only one client knows."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an elicitation has mode dialog", breaks="EL-04")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["mode"] = "dialog"
    return reply
