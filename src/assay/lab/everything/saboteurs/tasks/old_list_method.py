"""Tasks can be listed, as in an earlier revision."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("tasks/list is answered", breaks="tasks-removed-tasks-list", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/list":
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"resultType": "complete", "tasks": []}}
    return reply
