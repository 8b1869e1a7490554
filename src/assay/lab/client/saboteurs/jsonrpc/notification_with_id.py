"""A notification that wants an answer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.revisions.registry import HANDSHAKE


@on_message("notifications have an id", breaks="BASE-11", window=lambda revision: revision in HANDSHAKE)
def change(message: Json, client: ScriptedClient) -> Json:
    told = message.get("method", "").startswith("notifications/")
    return {**message, "id": "told"} if told else message
