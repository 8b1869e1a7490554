"""A tool that needs roots goes without."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool that needs roots does without", breaks="sep-2322-list-roots-incomplete")
def change(reply: Json, context: FaultContext) -> Json:
    if result_for(reply, context, asking_tool("list_roots")) is not None:
        reply["result"] = {"resultType": "complete", "content": [{"type": "text", "text": "[]"}]}
    return reply
