"""A cancellation of what nobody asked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a request that was never sent is cancelled", breaks="CAN-01", scenario="framing.gives-up")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "notifications/cancelled":
        return message
    return {**message, "params": {**message["params"], "requestId": "made up"}}
