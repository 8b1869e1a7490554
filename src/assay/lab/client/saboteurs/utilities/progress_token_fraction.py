"""A progress token that is no token."""

from __future__ import annotations

from assay.lab.client.altered import with_meta
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("a progress token is a list", breaks="PRG-01", scenario="utilities.progress")
def change(message: Json, guest: Guest) -> Json:
    return with_meta(message, lambda meta: {**meta, "progressToken": [1]})
