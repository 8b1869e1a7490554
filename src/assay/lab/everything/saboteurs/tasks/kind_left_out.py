"""Answers about tasks do not say what kind of result they are."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "tasks/get has no resultType", breaks="tasks-result-type-complete-on-non-task-responses", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/get" and "result" in reply:
        del reply["result"]["resultType"]
    return reply
