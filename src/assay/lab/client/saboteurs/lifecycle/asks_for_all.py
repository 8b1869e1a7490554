"""A client that tries everything."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("resources are listed though the server has none", breaks="LIFE-14")
def change(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": "all", "method": "resources/list", "params": {}}]
