"""Every request has the same progress token."""

from __future__ import annotations

from assay.lab.client.altered import with_meta
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("all requests have one progress token", breaks="PRG-02", scenario="utilities.progress")
def change(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: {**meta, "progressToken": "mine"})
