"""A missing argument is noticed where it is used."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("a missing argument gets -32603", breaks="PR-10")
def change(reply: Json, context: FaultContext) -> Json:
    arguments = context.params.get("arguments")
    if context.method == "prompts/get" and "error" in reply and arguments == {}:
        reply["error"] = {"code": INTERNAL_ERROR, "message": "cannot read properties of undefined"}
    return reply
