"""With the second answer the first is forgotten."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import names
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("after the second answer the first question comes again", breaks="sep-2322-multi-round-r3")
def change(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("multi_round")):
        given = message["params"].get("inputResponses", {})
        if "step2" in given:
            message["params"].pop("requestState")
    return message
