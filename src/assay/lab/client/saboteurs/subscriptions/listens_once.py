"""A client that listens once."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.transport import STDIO_ONLY


@on_message("a server that was started again is not listened to", breaks="SUB-09", transports=STDIO_ONLY)
def change(message: Json, guest: Guest) -> Json | None:
    if message.get("method") != "subscriptions/listen" or not guest.memory.get("listened"):
        guest.memory["listened"] = (
            guest.memory.get("listened") or message.get("method") == "subscriptions/listen"
        )
        return message
    return None
