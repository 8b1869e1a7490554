"""Of three answers one is read, and the others are asked for again."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import names
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("of three answers one is read", breaks="sep-2322-multiple-inputs-complete")
def change(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("multiple_inputs")) and "inputResponses" in message["params"]:
        given = message["params"]["inputResponses"]
        message["params"]["inputResponses"] = dict(list(given.items())[:1])
    return message
