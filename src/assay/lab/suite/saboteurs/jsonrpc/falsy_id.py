"""`id || null`: what is false is none."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply(
    'the ids 0 and "" come back as null', breaks="BASE-06", window=newest_of_each_kind, scenario="jsonrpc.ids"
)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": reply["id"] or None} if "id" in reply else reply
