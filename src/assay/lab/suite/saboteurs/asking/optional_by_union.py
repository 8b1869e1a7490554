"""A field that may be left out is a union with null."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a field of a form is a union with null", breaks="EL-06")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        optional = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
        params.get("requestedSchema", {}).get("properties", {})["nickname"] = optional
    return reply
