"""A task that was announced cannot be read yet."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the first tasks/get of a task does not find it",
    breaks="sep-2663-durable-create-strong-consistency",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    known = context.memory.setdefault("known", set())
    name = context.params.get("taskId")
    if context.method == "tasks/get" and name not in known:
        known.add(name)
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "no such task"}}
    return reply
