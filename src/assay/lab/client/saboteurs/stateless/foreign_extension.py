"""An extension that the server has not."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a method of an extension is used that the server lacks", breaks="VER-07")
def change(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    params = {"taskId": "none", "_meta": message["params"]["_meta"]}
    return [message, {"jsonrpc": "2.0", "id": "extra", "method": "tasks/get", "params": params}]
