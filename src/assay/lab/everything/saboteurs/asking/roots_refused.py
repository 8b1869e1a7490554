"""A tool fails on the roots that it asked for."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool fails once it has the roots that it asked for", breaks="sep-2322-list-roots-complete")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("list_roots"))
    if result is not None and "content" in result:
        result["isError"] = True
    return reply
