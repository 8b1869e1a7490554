"""Whoever asks for an unknown version gets the first that there was."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import BY_DATE, HANDSHAKE


@on_reply("the oldest version is offered, not the newest", breaks="LIFE-11")
def change(reply: Json, context: FaultContext) -> Json:
    if (
        context.method == "initialize"
        and context.params.get("protocolVersion") not in BY_DATE
        and "result" in reply
    ):
        reply["result"]["protocolVersion"] = HANDSHAKE[0].date
    return reply
