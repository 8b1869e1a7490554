"""Results as they were before they had a type."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("lists have no `resultType`", breaks="BASE-17")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method.endswith("/list") and "result" in reply:
        reply["result"].pop("resultType", None)
    return reply
