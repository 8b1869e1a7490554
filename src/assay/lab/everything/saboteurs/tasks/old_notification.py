"""Listeners are told of tasks by the name of an earlier draft, too."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "tasks are told of as notifications/tasks/status", breaks="tasks-status-notifications", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    is_told = reply.get("method") == "notifications/tasks"
    return [reply, {**reply, "method": "notifications/tasks/status"}] if is_told else [reply]
