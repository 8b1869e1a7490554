"""A client that has no model is asked for its words."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.driver.question import SAMPLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

MESSAGE = {"role": "user", "content": {"type": "text", "text": "Invent a name"}}


@on_reply("clients without a model are asked to sample", breaks="sep-2322-respect-client-capabilities")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("capabilities")) or {}
    for question in result.get("inputRequests", {}).values():
        question["method"], question["params"] = SAMPLE, {"messages": [MESSAGE], "maxTokens": 10}
    return reply
