"""An id that is none."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the id of a call is null", breaks="BASE-03")
def change(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": None} if message.get("method") == "tools/call" else message
