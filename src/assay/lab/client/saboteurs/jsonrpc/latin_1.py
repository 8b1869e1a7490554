"""Another encoding."""

from __future__ import annotations

import json
from typing import Any

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import BOTH, Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a message is written in Latin-1", breaks="BASE-12", transports=BOTH)
def change(message: Json, client: ScriptedClient) -> Any:
    if message.get("method") != "tools/call":
        return message
    return json.dumps(message, ensure_ascii=False).encode("latin-1", "replace")
