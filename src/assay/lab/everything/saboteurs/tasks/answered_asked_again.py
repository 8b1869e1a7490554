"""What was answered is asked for again."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.saboteur import Json, Turn, on_reply


@on_reply(
    "an answered input request stays open",
    breaks="tasks-mrtr-partial-fulfillment",
    silent=True,
    double=DOUBLE,
)
def change(reply: Json, turn: Turn) -> Json:
    asked = reply.get("result", {}).get("inputRequests")
    if turn.method == "tasks/get" and asked:
        seen = turn.memory.setdefault(turn.params["taskId"], {})
        seen.update(asked)
        reply["result"]["inputRequests"] = dict(seen)
    return reply
