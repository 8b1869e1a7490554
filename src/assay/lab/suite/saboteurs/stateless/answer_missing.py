"""A client that forgets an answer must begin anew."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_PARAMS


@on_request("a missing answer is an error", breaks="MR-23", scenario="stateless.asking")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if params_of(message).get("inputResponses") != {}:
        return message
    error = {"code": INVALID_PARAMS, "message": "missing input response"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
