"""An answer that cannot be read is taken for a refusal of the user."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("an answer that is a number is taken for `cancel`", breaks="MR-20", scenario="stateless.asking")
def change(message: Json, context: FaultContext) -> Json:
    given = params_of(message).get("inputResponses")
    if isinstance(given, dict):
        read = {key: one if isinstance(one, dict) else {"action": "cancel"} for key, one in given.items()}
        message["params"]["inputResponses"] = read
    return message
