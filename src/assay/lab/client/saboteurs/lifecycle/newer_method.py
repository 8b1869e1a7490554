"""A method of another revision."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message(
    "a session uses a method that its revision does not have", breaks="LIFE-13", scenario="tools_call"
)
def change(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": "newer", "method": "server/discover", "params": {}}]
