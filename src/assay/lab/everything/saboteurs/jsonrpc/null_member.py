"""A result has a member that is null where the schema wants it left out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("a result has `_meta: null`", breaks="wire-schema-valid", scenario="ping")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "ping" and "result" in reply:
        reply["result"] = {"_meta": None}
    return reply
