"""Tokens are kept as text."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a numeric token comes back as a string", breaks="PRG-04")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progressToken"] = str(reply["params"]["progressToken"])
    return reply
