"""The acknowledgement of input is a task."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("tasks/update is answered with the task", breaks="tasks-mrtr-tasks-update-resumes", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/update" and "result" in reply:
        reply["result"].update(taskId=context.params["taskId"], status="working")
    return reply
