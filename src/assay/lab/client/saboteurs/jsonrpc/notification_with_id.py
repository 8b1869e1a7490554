"""A notification that wants an answer."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json
from assay.revisions.registry import HANDSHAKE


@on_message("notifications have an id", breaks="BASE-11", window=lambda revision: revision in HANDSHAKE)
def change(message: Json, guest: Guest) -> Json:
    told = message.get("method", "").startswith("notifications/")
    return {**message, "id": "told"} if told else message
