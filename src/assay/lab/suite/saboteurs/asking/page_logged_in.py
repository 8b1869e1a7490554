"""The page opens logged in."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the url of an elicitation holds an access token", breaks="EL-30")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params["url"] = "https://assay.example/account?access_token=c2VjcmV0"
    return reply
