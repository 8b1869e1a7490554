"""Messages that do not say what they are."""

from __future__ import annotations

from assay.lab.client.altered import without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("messages lack `jsonrpc`", breaks="BASE-01")
def change(message: Json, client: ScriptedClient) -> Json:
    return without(message, "jsonrpc")
