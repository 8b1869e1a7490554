"""The end of a visit is told with a number of the server's own."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the end of an elicitation names another one", breaks="EL-17")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/elicitation/complete":
        reply["params"]["elicitationId"] = "visit-1"
    return reply
