"""Every result has hints for caches, questions too."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a question may be cached", breaks="CA-02", scenario="stateless.asking")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("result", {}).get("resultType") == "input_required":
        reply["result"] |= {"ttlMs": 60_000, "cacheScope": "private"}
    return reply
