"""What is told is what is left to do."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("progress decreases", breaks="PRG-03")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progress"] = reply["params"]["total"] - reply["params"]["progress"]
    return reply
