"""A list that is declared cannot be had."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("the list of prompts is declared, and an error", breaks="sep-2549-caching-connection")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "prompts/list":
        return reply
    return {
        "jsonrpc": "2.0",
        "id": reply["id"],
        "error": {"code": INTERNAL_ERROR, "message": "no prompts today"},
    }
