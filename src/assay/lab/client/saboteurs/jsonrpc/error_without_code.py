"""An error in words only."""

from __future__ import annotations

from assay.lab.client.altered import within, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("an error has a text and no code", breaks="BASE-08")
def change(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: without(error, "code"))
