"""There is a message, and nothing in it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the message of progress is empty", breaks="PRG-06")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["message"] = ""
    return reply
