"""Minus one means for ever."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`ttlMs` is -1", breaks="CA-03")
def change(reply: Json, context: FaultContext) -> Json:
    if "ttlMs" in reply.get("result", {}):
        reply["result"]["ttlMs"] = -1
    return reply
