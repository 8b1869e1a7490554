"""The end of a visit is told, and not of which."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the end of an elicitation does not say of which", breaks="EL-17")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/elicitation/complete":
        reply["params"] = {}
    return reply
