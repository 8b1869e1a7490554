"""One id for all."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("every request has the same id", breaks="BASE-04")
def change(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": 7} if "method" in message and "id" in message else message
