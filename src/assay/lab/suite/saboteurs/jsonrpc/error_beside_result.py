"""JSON-RPC 1.0: a result has an error beside it, which is null."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply("a result has a null error beside it", breaks="BASE-07", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": None} if "result" in reply else reply
