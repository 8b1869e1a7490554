"""A cancellation that wants an answer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import STDIO_ONLY


@on_message("cancellations have an id", breaks="BASE-11", scenario="framing.gives-up", transports=STDIO_ONLY)
def change(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": "stop"} if message.get("method") == "notifications/cancelled" else message
