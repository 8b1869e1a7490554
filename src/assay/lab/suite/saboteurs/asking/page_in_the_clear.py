"""The page is served without encryption."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the url of an elicitation is http", breaks="EL-32")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params["url"] = "http://assay.example/visit"
    return reply
