"""Hints for caches were added to lists, and to nothing else."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("what a resource holds comes without hints for caches", breaks="CA-01")
def change(reply: Json, context: FaultContext) -> Json:
    for key in ("ttlMs", "cacheScope"):
        if context.method == "resources/read":
            reply.get("result", {}).pop(key, None)
    return reply
