"""Listeners are told that a task has ended, and not what came of it."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a notification of a completed task has no result", breaks="tasks-status-notifications", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/tasks":
        reply["params"].pop("result", None)
    return reply
