"""The agreed version is left for the client to guess."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`protocolVersion` is missing", breaks="LIFE-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"].pop("protocolVersion")
    return reply
