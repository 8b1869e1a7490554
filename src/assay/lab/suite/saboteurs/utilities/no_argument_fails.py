"""A completion without an argument is an exception that nobody caught."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("completion without an argument gets -32603", breaks="CMP-04")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "argument" not in context.params:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply
