"""A time to live is no whole number."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("ttlMs is a fraction", breaks="tasks-wire-field-renames", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if "taskId" in reply.get("result", {}):
        reply["result"]["ttlMs"] += 0.5
    return reply
