"""The second question comes with the state of the first."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("the second question comes with the state of the first", breaks="sep-2322-multi-round-r2")
def change(reply: Json, turn: Turn) -> Json:
    result = result_for(reply, turn, asking_tool("multi_round")) or {}
    if "requestState" in result and "requestState" in turn.params:
        result["requestState"] = turn.params["requestState"]
    return reply
