"""A number passes for a filled-in form."""

from __future__ import annotations

from assay.lab.everything.answering import ALICE
from assay.lab.everything.input_round import USER_NAME
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("a number passes for a form", breaks="sep-2322-validate-input-responses")
def change(message: Json, context: FaultContext) -> Json:
    given = params_of(message).get("inputResponses")
    if isinstance(given, dict) and isinstance(given.get(USER_NAME), int):
        given[USER_NAME] = ALICE
    return message
