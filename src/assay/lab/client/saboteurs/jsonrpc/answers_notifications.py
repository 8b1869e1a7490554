"""An answer that nobody wanted."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a notification is answered", breaks="BASE-10", scenario="jsonrpc.told")
def change(message: Json, client: ScriptedClient) -> Json:
    if "method" in message and "id" not in message:
        client.task(client.send({"jsonrpc": "2.0", "id": None, "result": {}}))
    return message
