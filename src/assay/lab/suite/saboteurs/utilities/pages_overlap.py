"""Each page begins with the last thing of the page before."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("a page repeats something of the page before", breaks="PAG-02")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "result" in reply:
        tools = reply["result"]["tools"]
        if "cursor" in turn.params and "last" in turn.memory:
            tools.insert(0, turn.memory["last"])
        turn.memory["last"] = tools[-1]
    return reply
