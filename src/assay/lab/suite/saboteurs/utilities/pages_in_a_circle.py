"""The last page leads to itself."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("a list that never ends", breaks="PAG-02")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "result" in reply and "cursor" in turn.params:
        reply["result"].setdefault("nextCursor", turn.params["cursor"])
    return reply
