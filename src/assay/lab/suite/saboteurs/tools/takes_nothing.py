"""A required argument that is missing is taken to be empty."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("a missing argument is filled in", breaks="TL-23")
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call" and params_of(message).get("arguments") == {}:
        message["params"]["arguments"] = {"message": "undefined"}
    return message
