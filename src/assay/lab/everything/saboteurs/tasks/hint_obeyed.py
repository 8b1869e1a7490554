"""A tool becomes a task for those who ask for one."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a `task` parameter makes a task", breaks="sep-2663-legacy-task-param-ignored", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if "task" in context.params and "result" in reply:
        reply["result"].update(resultType="task", taskId="1", status="working")
    return reply
