"""A prefix that is none."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a prefix in `_meta` begins with a digit", breaks="META-01")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(message, ("params", "_meta"), lambda meta: {**meta, "1-st./key": 1})
