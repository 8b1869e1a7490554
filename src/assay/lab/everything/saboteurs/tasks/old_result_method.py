"""A method of an earlier revision is still there."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("tasks/result is answered", breaks="sep-2663-tasks-result-removed-method-not-found", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tasks/result":
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"resultType": "complete", "content": []}}
    return reply
