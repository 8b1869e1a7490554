"""Messages that do not say what they are."""

from __future__ import annotations

from assay.lab.client.altered import without
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("messages lack `jsonrpc`", breaks="BASE-01")
def change(message: Json, guest: Guest) -> Json:
    return without(message, "jsonrpc")
