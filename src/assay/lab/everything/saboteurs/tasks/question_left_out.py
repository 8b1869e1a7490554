"""A task that waits does not say for what."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a task that needs input has no input requests",
    breaks="sep-2663-tasks-get-status-input-required",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        reply["result"].pop("inputRequests", None)
    return reply
