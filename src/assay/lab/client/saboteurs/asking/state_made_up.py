"""A state is sent that nobody gave."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a state is sent where none was given", breaks="MR-17", scenario="asking.several-rounds")
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "asking_again") or "inputResponses" not in message["params"]:
        return message
    return {**message, "params": {**message["params"], "requestState": "made up"}}
