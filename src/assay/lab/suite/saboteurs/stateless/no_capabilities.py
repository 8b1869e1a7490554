"""Who declares nothing leaves the declaration out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("discovery has no `capabilities`", breaks="VER-04")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"].pop("capabilities")
    return reply
