"""A body that is no message."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_message("the body of a POST is a text", breaks="HTTP-08", transports=HTTP_ONLY)
def change(message: Json, client: ScriptedClient) -> Any:
    return b'"call"' if message.get("method") == "tools/call" else message
