"""A ping meets silence."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a ping is not answered", breaks="PNG-01")
def change(message: Json, client: ScriptedClient) -> Json | None:
    return None if message.get("method") == "ping" else message
