"""Work that is done at once has no content."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the result that comes at once is empty",
    breaks="tasks-immediate-result-shortcut",
    scenario="tasks-dispatch-and-envelope",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    given = context.params.get("arguments")
    if isinstance(given, dict) and given.get("seconds") == 0:
        reply["result"] = {"resultType": "complete", "content": []}
    return reply
