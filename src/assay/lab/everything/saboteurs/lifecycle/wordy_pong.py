"""A ping is answered with more than nothing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a ping is answered with an object that is not empty", breaks="ping")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping" and "result" in reply:
        reply["result"] = {"pong": True}
    return reply
