"""Changed state is not refused: the question comes again."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import forget_answers
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("changed state leads to the question again", breaks="sep-2322-reject-tampered-state")
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    forged = str(params.get("requestState")).endswith("-TAMPERED")
    return forget_answers(message, asking_tool("tampered_state")) if forged else message
