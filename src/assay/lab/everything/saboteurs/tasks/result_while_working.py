"""A task that works has a result already."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a task that works has a result", breaks="sep-2663-tasks-get-status-working", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] == "working":
        reply["result"]["result"] = {"content": []}
    return reply
