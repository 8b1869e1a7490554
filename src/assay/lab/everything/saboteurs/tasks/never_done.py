"""A task never ends."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.task_shape import PAYLOADS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a task works for ever", breaks="sep-2663-tasks-get-status-completed", silent=True, double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        kept = {key: value for key, value in reply["result"].items() if key not in PAYLOADS}
        reply["result"] = {**kept, "status": "working"}
    return reply
