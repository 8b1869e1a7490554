"""A request is sent again under its old id."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a request is sent again under its old id", breaks="MR-18", scenario="asking.several-rounds")
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "asking"):
        return message
    return {**message, "id": client.memory.setdefault("id", message["id"])}
