"""A tool becomes a task only for those who ask for one."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "without a `task` parameter there is no task",
    breaks="tasks-server-directed-creation-no-hint",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "failing_job" and "task" not in context.params:
        reply["result"] = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
    return reply
