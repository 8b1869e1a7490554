"""The new level is confirmed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`logging/setLevel` is answered with more than nothing", breaks="logging-set-level")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "logging/setLevel" and "result" in reply:
        reply["result"] = {"level": context.params.get("level")}
    return reply
