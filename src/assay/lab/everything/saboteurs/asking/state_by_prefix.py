"""What follows the state that was given out is not looked at."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("state with something appended is believed", breaks="sep-2322-reject-tampered-state")
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if "requestState" in params:
        params["requestState"] = params["requestState"].removesuffix("-TAMPERED")
    return message
