"""`initialize` is answered without saying who answers."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("`serverInfo` is missing", breaks="LIFE-03")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "initialize" and "result" in reply:
        reply["result"].pop("serverInfo")
    return reply
