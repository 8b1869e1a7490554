"""Answers in a form that is not understood are skipped."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("`inputResponses` that is a list is ignored", breaks="MR-21", scenario="stateless.asking")
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if isinstance(params.get("inputResponses"), list):
        del params["inputResponses"]
    return message
