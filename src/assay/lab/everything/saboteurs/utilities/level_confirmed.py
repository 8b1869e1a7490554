"""The new level is confirmed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("`logging/setLevel` is answered with more than nothing", breaks="logging-set-level")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "logging/setLevel" and "result" in reply:
        reply["result"] = {"level": turn.params.get("level")}
    return reply
