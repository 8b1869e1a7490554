"""A client for events only."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("an answer as JSON is not understood", breaks="HTTP-13")
def change(message: Json, client: ScriptedClient) -> Json | None:
    return None if "plainly" in str(message.get("result")) else message
