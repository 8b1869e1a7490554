"""A task has a request state."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the answer to tasks/get has a requestState", breaks="tasks-get-detailed-no-request-state", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        reply["result"]["requestState"] = "state"
    return reply
