"""An answer to something else."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("answers have another id than their request", breaks="BASE-06")
def change(message: Json, client: ScriptedClient) -> Json:
    return message if "method" in message else {**message, "id": f"not-{message['id']}"}
