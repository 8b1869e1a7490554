"""The first answer is taken for all of them."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("a task goes on with a part of its input", breaks="tasks-mrtr-partial-fulfillment", double=DOUBLE)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/update":
        params = params_of(message)
        params["inputResponses"] = {"name": {}, "confirm": {}, **params.get("inputResponses", {})}
    return message
