"""A cancellation of what nobody asked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import STDIO_ONLY


@on_message(
    "a request is cancelled that was never sent, where each describes itself",
    breaks="CAN-02",
    transports=STDIO_ONLY,
    scenario="framing.gives-up",
)
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "notifications/cancelled":
        return message
    return {**message, "params": {**message["params"], "requestId": "made up"}}
