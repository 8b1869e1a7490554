"""Any answer will do."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("an answer under another id is taken for the one that is waited for", breaks="HOSTILE-01")
def change(message: Json, client: ScriptedClient) -> Json:
    waiting = client.ears.waiting
    if message.get("id") != "nobody-asked" or not waiting:
        return message
    return {**message, "id": waiting[-1].id}
