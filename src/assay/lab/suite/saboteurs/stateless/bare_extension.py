"""An extension is named without saying whose it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("an extension has no prefix", breaks="VER-06")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"]["extensions"] = {"models": {}}
    return reply
