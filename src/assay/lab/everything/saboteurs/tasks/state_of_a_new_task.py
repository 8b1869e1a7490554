"""A new task has a request state."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the answer that makes a task has a requestState",
    breaks="tasks-create-result-no-request-state",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and reply.get("result", {}).get("resultType") == "task":
        reply["result"]["requestState"] = "state"
    return reply
