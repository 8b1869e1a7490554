"""A task that does not exist breaks the server."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "an unknown task is answered with -32603",
    breaks="sep-2663-tasks-get-invalid-task-id-32602",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "error" in reply:
        reply["error"]["code"] = -32603
    return reply
