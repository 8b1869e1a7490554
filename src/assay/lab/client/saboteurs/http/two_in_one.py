"""Two messages in one request."""

from __future__ import annotations

import json
from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_message("a POST holds two messages", breaks="HTTP-06", transports=HTTP_ONLY)
def change(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return json.dumps([message, {"jsonrpc": "2.0", "method": "notifications/lab"}]).encode()
