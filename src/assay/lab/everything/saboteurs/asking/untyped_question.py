"""A result with questions does not say what kind of result it is."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a result with questions has no `resultType`", breaks="sep-2322-result-type-included")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("elicitation")) or {}
    if "inputRequests" in result:
        del result["resultType"]
    return reply
