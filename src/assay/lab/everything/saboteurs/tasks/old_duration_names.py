"""Durations have the names of an earlier revision."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a task has `ttl` and `pollInterval`", breaks="tasks-wire-field-renames", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    task = reply.get("result", {})
    if "taskId" in task:
        task["ttl"], task["pollInterval"] = task.pop("ttlMs"), task.pop("pollIntervalMs")
    return reply
