"""A state that nobody gave."""

from __future__ import annotations

from assay.lab.client.altered import is_call, within
from assay.lab.client.fixtures.retried_tools import NO_STATE
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a state is sent where none was given", breaks="sep-2322-client-no-state-omitted")
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, NO_STATE) or "inputResponses" not in message["params"]:
        return message
    return within(message, ("params",), lambda params: {**params, "requestState": "mine"})
