"""The list comes from a set."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("the order of the tools changes from list to list", breaks="tools-list-deterministic-order")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "result" in reply:
        turn.memory["times"] = turn.memory.get("times", 0) + 1
        reply["result"]["tools"].sort(key=lambda tool: tool["name"], reverse=turn.memory["times"] % 2 == 0)
    return reply
