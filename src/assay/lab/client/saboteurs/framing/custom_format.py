"""A format of its own."""

from __future__ import annotations

from assay.lab.client.altered import without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import WEBSOCKET_ONLY


@on_message("messages on a WebSocket lack `jsonrpc`", breaks="STD-14", transports=WEBSOCKET_ONLY)
def change(message: Json, client: ScriptedClient) -> Json:
    return without(message, "jsonrpc")
