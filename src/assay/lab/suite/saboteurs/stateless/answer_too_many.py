"""An answer to a question that was not asked is an offence."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_PARAMS


@on_request("an answer that was not asked for is refused", breaks="MR-22", scenario="stateless.asking")
def change(message: Json, context: FaultContext) -> Json | Answered:
    given = params_of(message).get("inputResponses")
    if not isinstance(given, dict) or "nobody-asked" not in given:
        return message
    error = {"code": INVALID_PARAMS, "message": "unexpected input response: nobody-asked"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
