"""A task is announced before the question is answered."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a question has a taskId", breaks="sep-2663-mrtr-synchronous-before-task-creation", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "inputRequests" in reply.get("result", {}):
        reply["result"]["taskId"] = "1"
    return reply
