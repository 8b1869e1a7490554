"""Where an answer is missing, the request fails."""

from __future__ import annotations

from assay.lab.everything.input_round import USER_NAME, asking_tool
from assay.lab.everything.spoiling import names
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_PARAMS


@on_request("a missing answer is an error", breaks="sep-2322-missing-response-rerequests")
def change(message: Json, context: FaultContext) -> Json | Answered:
    given = params_of(message).get("inputResponses", {USER_NAME: {}})
    if not names(message, asking_tool("elicitation")) or USER_NAME in given:
        return message
    error = {"code": INVALID_PARAMS, "message": "no answer to user_name"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
