"""A completed task does not say what came of it."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a completed task has no result", breaks="sep-2663-tasks-get-status-completed", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        reply["result"].pop("result", None)
    return reply
