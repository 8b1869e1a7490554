"""Progress goes both ways."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("progress goes back", breaks="tools-call-with-progress")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progress"] = 100 - reply["params"]["progress"]
    return reply
