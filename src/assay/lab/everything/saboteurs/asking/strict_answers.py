"""An answer that nobody asked for spoils the others."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import forget_answers
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("an answer too many spoils the others", breaks="sep-2322-ignore-unexpected-params")
def change(message: Json, context: FaultContext) -> Json:
    given = params_of(message).get("inputResponses")
    several = isinstance(given, dict) and len(given) > 1
    return forget_answers(message, asking_tool("elicitation")) if several else message
