"""A ping is answered with an error."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a ping is answered with an error", breaks="PNG-01")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("result") == {}:
        error = {"code": -32601, "message": "no ping here"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return message
