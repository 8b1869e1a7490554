"""What was answered before a task is not in its end."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a task ends without what was answered before it",
    breaks="sep-2663-mrtr-synchronous-before-task-creation",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply.get("result", {}):
        reply["result"]["result"]["content"] = [{"type": "text", "text": "Hello, whoever you are!"}]
    return reply
