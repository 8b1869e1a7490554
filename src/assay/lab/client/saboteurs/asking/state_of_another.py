"""The state of one request is sent with another."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the state of one request goes with another", breaks="MR-19", scenario="asking.rounds-at-once")
def change(message: Json, client: ScriptedClient) -> Json:
    if "requestState" not in message.get("params", {}):
        return message
    return {**message, "params": {**message["params"], "requestState": "of the left"}}
