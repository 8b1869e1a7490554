"""A client that listens once."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import STDIO_ONLY


@on_message("a server that was started again is not listened to", breaks="SUB-09", transports=STDIO_ONLY)
def change(message: Json, client: ScriptedClient) -> Json | None:
    if message.get("method") != "subscriptions/listen" or not client.memory.get("listened"):
        client.memory["listened"] = (
            client.memory.get("listened") or message.get("method") == "subscriptions/listen"
        )
        return message
    return None
