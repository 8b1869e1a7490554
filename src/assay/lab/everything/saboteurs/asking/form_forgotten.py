"""What the user filled in is forgotten."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import forget_answers
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("a form that was filled in is asked for again", breaks="sep-2322-elicitation-complete")
def change(message: Json, context: FaultContext) -> Json:
    return forget_answers(message, asking_tool("elicitation"))
