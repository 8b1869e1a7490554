"""A list holds for minus one millisecond, which is meant to be for ever."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`ttlMs` is -1", breaks="sep-2549-ttl-non-negative")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        reply["result"]["ttlMs"] = -1
    return reply
