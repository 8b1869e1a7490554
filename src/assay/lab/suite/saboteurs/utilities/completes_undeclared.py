"""Arguments are completed by a server that never said so."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`completions` is not declared", breaks="CMP-01")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"].pop("completions")
    return reply
