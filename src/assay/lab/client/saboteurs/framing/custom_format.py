"""A format of its own."""

from __future__ import annotations

from assay.lab.client.altered import without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.transport import WEBSOCKET_ONLY


@on_message("messages on a WebSocket lack `jsonrpc`", breaks="STD-14", transports=WEBSOCKET_ONLY)
def change(message: Json, guest: Guest) -> Json:
    return without(message, "jsonrpc")
