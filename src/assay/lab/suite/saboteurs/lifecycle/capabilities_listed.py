"""Capabilities are a list of names."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`capabilities` is a list", breaks="LIFE-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["capabilities"] = list(reply["result"]["capabilities"])
    return reply
