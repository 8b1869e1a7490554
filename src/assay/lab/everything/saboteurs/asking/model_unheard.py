"""Nothing comes of what the model said."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool that was given the model's message has no content", breaks="sep-2322-sampling-complete")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("sampling"))
    if result is not None and "content" in result:
        result["content"] = []
    return reply
