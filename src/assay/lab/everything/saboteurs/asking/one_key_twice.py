"""Two of three questions have the same key, which only the text shows."""

from __future__ import annotations

import json

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

PLACE = "where the questions go"


@on_reply("a key is there twice", breaks="sep-2322-multiple-inputs-incomplete")
def change(reply: Json, context: FaultContext) -> Json | bytes:
    result = result_for(reply, context, asking_tool("multiple_inputs")) or {}
    asked = result.get("inputRequests")
    if not asked:
        return reply
    text = json.dumps({**reply, "result": {**result, "inputRequests": PLACE}})
    members = json.dumps(asked)[1:-1]
    return text.replace(json.dumps(PLACE), f"{{{members}, {members}}}").encode()
