"""An answer that says both."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("an answer is a result and an error", breaks="BASE-07")
def change(message: Json, client: ScriptedClient) -> Json:
    if "method" in message:
        return message
    return {"result": {}, "error": {"code": -32603, "message": "both"}, **message}
