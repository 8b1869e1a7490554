"""An error to nobody."""

from __future__ import annotations

from assay.lab.client.altered import without
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("an error does not name its request", breaks="BASE-09")
def change(message: Json, guest: Guest) -> Json:
    return without(message, "id") if "error" in message else message
