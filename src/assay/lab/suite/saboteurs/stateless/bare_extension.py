"""An extension is named without saying whose it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an extension has no prefix", breaks="VER-06")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"]["extensions"] = {"models": {}}
    return reply
