"""An error in words only."""

from __future__ import annotations

from assay.lab.client.altered import within, without
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("an error has a text and no code", breaks="BASE-08")
def change(message: Json, guest: Guest) -> Json:
    return within(message, ("error",), lambda error: without(error, "code"))
