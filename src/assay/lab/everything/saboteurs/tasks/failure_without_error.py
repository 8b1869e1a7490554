"""A failed task does not say why."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a failed task has no error", breaks="sep-2663-tasks-get-status-failed", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        reply["result"].pop("error", None)
    return reply
