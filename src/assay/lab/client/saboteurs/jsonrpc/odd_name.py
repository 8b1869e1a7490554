"""A name that is none."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a name in `_meta` begins with a hyphen", breaks="META-02")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(message, ("params", "_meta"), lambda meta: {**meta, "-key-": 1})
