"""No answers at all pass for all of them."""

from __future__ import annotations

from assay.lab.everything.answering import ALICE
from assay.lab.everything.input_round import USER_NAME
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("`inputResponses: null` passes for answers", breaks="sep-2322-error-on-protocol-error")
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if "inputResponses" in params and params["inputResponses"] is None:
        params["inputResponses"] = {USER_NAME: ALICE}
    return message
