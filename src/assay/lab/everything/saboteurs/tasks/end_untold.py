"""Listeners are not told how a task ends."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the end of a task is not told to who listens",
    breaks="tasks-status-notifications",
    silent=True,
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json | None:
    is_end = reply.get("params", {}).get("status") == "completed"
    return None if reply.get("method") == "notifications/tasks" and is_end else reply
