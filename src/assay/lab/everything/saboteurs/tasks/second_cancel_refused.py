"""A task that has ended cannot be cancelled."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.task_shape import ENDS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "tasks/cancel of a task that has ended is an error",
    breaks="tasks-cancel-terminal-idempotent-ack",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    ended = context.memory.setdefault("ended", set())
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] in ENDS:
        ended.add(context.params.get("taskId"))
    if context.method == "tasks/cancel" and context.params.get("taskId") in ended:
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "it has ended"}}
    return reply
