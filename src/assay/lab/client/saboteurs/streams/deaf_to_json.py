"""A client for events only."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("an answer as JSON is not understood", breaks="HTTP-13")
def change(message: Json, guest: Guest) -> Json | None:
    return None if "plainly" in str(message.get("result")) else message
