"""The acknowledgement of a cancellation is a task."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("tasks/cancel is answered with the task", breaks="sep-2663-cancel-ack-empty-result", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/cancel" and "result" in reply:
        reply["result"].update(taskId=context.params["taskId"], status="cancelled")
    return reply
