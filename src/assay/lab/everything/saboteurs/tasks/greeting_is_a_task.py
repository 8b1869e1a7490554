"""A tool that answers at once says that it is a task."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the result of a tool that is no task has a taskId", breaks="tasks-sync-tool-call", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "greet" and "result" in reply:
        reply["result"]["taskId"] = "1"
    return reply
