"""Ids that are no integers."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a call has a fraction for its id", breaks="BASE-02")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return {**message, "id": message["id"] + 0.5}
