"""Each page of a list decides for itself who may keep it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("the second page of a list has another `cacheScope`", breaks="CA-04")
def change(reply: Json, turn: Turn) -> Json:
    if "cursor" in turn.params and "result" in reply:
        reply["result"]["cacheScope"] = "private"
    return reply
