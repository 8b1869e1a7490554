"""An error to nobody."""

from __future__ import annotations

from assay.lab.client.altered import without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("an error does not name its request", breaks="BASE-09")
def change(message: Json, client: ScriptedClient) -> Json:
    return without(message, "id") if "error" in message else message
