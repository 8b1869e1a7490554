"""Titles are for people."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a titled choice has no titles", breaks="elicitation-sep1330-titled-single")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        params["requestedSchema"]["properties"]["titledSingle"]["oneOf"] = [
            {"const": one["const"]}
            for one in params["requestedSchema"]["properties"]["titledSingle"]["oneOf"]
        ]
    return reply
