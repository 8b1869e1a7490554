"""A prompt that does not exist is a method that does not exist."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("an unknown prompt gets -32601", breaks="PR-09")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "no-such" in str(context.params.get("name")):
        reply["error"]["code"] = METHOD_NOT_FOUND
    return reply
