"""A page is named by its path, as a browser on the same site would understand it."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the url of an elicitation is a path", breaks="EL-08")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params["url"] = "/connect?step=1"
    return reply
