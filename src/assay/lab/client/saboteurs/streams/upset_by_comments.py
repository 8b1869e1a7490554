"""A client that knows no comments."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a stream with comments is not understood", breaks="HTTP-65")
def change(message: Json, client: ScriptedClient) -> Json | None:
    return None if "with comments" in str(message.get("result")) else message
