"""Resources are there, and nothing says so."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the capability `resources` is not declared", breaks="RS-01")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"].pop("resources", None)
    return reply
