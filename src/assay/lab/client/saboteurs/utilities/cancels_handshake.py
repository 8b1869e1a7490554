"""The handshake is cancelled."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("`initialize` is cancelled after it was sent", breaks="CAN-04", scenario="tools_call")
def change(message: Json, client: ScriptedClient) -> Json | list[Json]:
    if message.get("method") == "initialize":
        client.memory["opening"] = message["id"]
    if message.get("method") != "notifications/initialized":
        return message
    about = {"requestId": client.memory["opening"]}
    return [message, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": about}]
