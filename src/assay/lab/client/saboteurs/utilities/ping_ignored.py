"""A ping meets silence."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("a ping is not answered", breaks="PNG-01")
def change(message: Json, guest: Guest) -> Json | None:
    return None if message.get("method") == "ping" else message
