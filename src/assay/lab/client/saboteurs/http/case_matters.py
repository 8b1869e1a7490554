"""A client that knows headers by one spelling."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("an answer with odd header names is not understood", breaks="HTTP-61")
def change(message: Json, client: ScriptedClient) -> Json | None:
    return None if "in odd case" in str(message.get("result")) else message
