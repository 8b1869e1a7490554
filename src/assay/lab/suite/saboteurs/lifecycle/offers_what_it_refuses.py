"""The version that is offered is not agreed on when it is asked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import BY_DATE

OFFERED = "2000-01-01"


@on_reply("a version is offered that the server does not support", breaks="LIFE-10")
def change(reply: Json, context: FaultContext) -> Json:
    asked = context.params.get("protocolVersion")
    if context.method == "initialize" and asked not in (*BY_DATE, OFFERED) and "result" in reply:
        reply["result"]["protocolVersion"] = OFFERED
    return reply
