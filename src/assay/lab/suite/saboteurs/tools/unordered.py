"""The tools come out of a set, each time in another order."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("every second reading has the tools the other way round", breaks="TL-05")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "result" in reply:
        if "cursor" not in turn.params:
            turn.memory["read"] = turn.memory.get("read", 0) + 1
        if turn.memory["read"] % 2:
            reply["result"]["tools"].reverse()
    return reply
