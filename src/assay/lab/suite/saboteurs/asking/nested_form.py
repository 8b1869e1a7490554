"""A form has a form inside it, as the class it was made from."""

from __future__ import annotations

from assay.lab.harness.driver.question import ELICIT, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a field of a form is an object", breaks="EL-06")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, ELICIT):
        address = {"type": "object", "properties": {"street": {"type": "string"}}}
        params.get("requestedSchema", {}).get("properties", {})["address"] = address
    return reply
