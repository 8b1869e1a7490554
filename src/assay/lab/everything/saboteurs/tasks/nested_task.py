"""A task is nested, as it was in an earlier revision."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a task that is made is nested under `task`", breaks="sep-2663-result-type-task-on-create", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if "result" in reply and reply["result"].get("resultType") == "task":
        reply["result"] = {"resultType": "task", "task": reply["result"]}
    return reply
