"""Completion of an argument that is none."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("completion is asked for an argument that was not listed", breaks="USE-03")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "completion/complete":
        return message
    return within(message, ("params", "argument"), lambda fields: {**fields, "name": "name"})
