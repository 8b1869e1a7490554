"""State that the server gave out itself is not taken back."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import names
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("state is refused as it was given out", breaks="sep-2322-request-state-complete")
def change(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("request_state")) and "requestState" in message["params"]:
        message["params"]["requestState"] += "x"
    return message
