"""`ping` is answered with something."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("ping is answered with content", breaks="PNG-01")
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": {"message": "pong"}} if context.method == "ping" else reply
