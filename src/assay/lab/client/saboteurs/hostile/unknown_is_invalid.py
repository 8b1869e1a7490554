"""What it does not know is called invalid."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message(
    "an unknown request is refused as an invalid one", breaks="HOSTILE-15", scenario="hostile.unknown"
)
def change(message: Json, client: ScriptedClient) -> Json:
    if "error" not in message:
        return message
    return {**message, "error": {**message["error"], "code": -32600}}
