"""The result in a task names the task, as in an earlier revision."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the result in a task has the related-task key",
    breaks="tasks-no-related-task-meta-on-inlined-result",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {}).get("result")
    if context.method == "tasks/get" and result:
        result["_meta"] = {"io.modelcontextprotocol/related-task": {"taskId": context.params["taskId"]}}
    return reply
