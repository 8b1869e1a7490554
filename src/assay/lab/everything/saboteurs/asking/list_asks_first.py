"""Prompts are listed only for users who say who they are."""

from __future__ import annotations

from assay.lab.harness.driver.question import ROOTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

ASKED = {"resultType": "input_required", "inputRequests": {"where": {"method": ROOTS}}}


@on_reply("a list asks for roots first", breaks="sep-2322-not-on-unsupported-requests")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        reply["result"] = ASKED
    return reply
