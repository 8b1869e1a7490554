"""Tokens are objects inside, and stay so."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the progress token is an object", breaks="PRG-01")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progressToken"] = {"token": reply["params"]["progressToken"]}
    return reply
