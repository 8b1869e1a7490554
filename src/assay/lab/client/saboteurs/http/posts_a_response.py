"""An answer to no question."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_message("a response is POSTed though nobody asks", breaks="HTTP-09", transports=HTTP_ONLY)
def change(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return [message, {"jsonrpc": "2.0", "id": 99, "result": {}}]
