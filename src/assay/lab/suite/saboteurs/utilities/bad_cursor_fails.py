"""A cursor that cannot be read is an exception that nobody caught."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("an invalid cursor gets -32603", breaks="PAG-03")
def change(reply: Json, context: FaultContext) -> Json:
    if "cursor" in context.params and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply
