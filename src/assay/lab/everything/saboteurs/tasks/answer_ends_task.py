"""A task that is given its input is over."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("input cancels a task", breaks="tasks-mrtr-tasks-update-resumes", double=DOUBLE)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/update":
        message["method"] = "tasks/cancel"
        if context.call is not None:
            context.call.set("Mcp-Method", "tasks/cancel")
    return message
