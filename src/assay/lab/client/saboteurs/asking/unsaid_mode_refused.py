"""A question that does not say that it is a form is refused."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.client.questions import FORM
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing(
    "a form that does not say that it is one is refused", breaks="EL-05", scenario="asking.form-accepted"
)
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") == FORM:
        return {**message, "params": {**message["params"], "mode": "?"}}
    return within(message, ("result", "inputRequests", "question-1", "params"), _odd)


def _odd(params: Json) -> Json:
    return {**params, "mode": "?"} if "requestedSchema" in params else params
