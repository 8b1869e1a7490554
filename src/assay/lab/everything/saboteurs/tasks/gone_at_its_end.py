"""A task can be read once when it has ended."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.task_shape import ENDS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a task that has ended is forgotten before its ttlMs", breaks="tasks-no-early-ttl-expiry", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    ended = context.memory.setdefault("ended", set())
    if context.method == "tasks/get" and context.params.get("taskId") in ended:
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "it has expired"}}
    if context.method == "tasks/get" and "result" in reply and reply["result"]["status"] in ENDS:
        ended.add(context.params.get("taskId"))
    return reply
