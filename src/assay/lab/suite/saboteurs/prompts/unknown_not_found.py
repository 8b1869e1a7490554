"""A prompt that does not exist is a method that does not exist."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("an unknown prompt gets -32601", breaks="PR-09")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "prompts/get" and "no-such" in str(turn.params.get("name")):
        reply["error"]["code"] = METHOD_NOT_FOUND
    return reply
