"""A result has a member that is null where the schema wants it left out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a result has `_meta: null`", breaks="wire-schema-valid", scenario="ping")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping" and "result" in reply:
        reply["result"] = {"_meta": None}
    return reply
