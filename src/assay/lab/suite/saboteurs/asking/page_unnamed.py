"""A page is asked for without what says which."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an elicitation in url mode lacks its url, or its id where it has one", breaks="EL-07")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        if params.get("mode") == "url":
            params.pop("elicitationId" if context.revision.elicitation_ids else "url")
    return reply
