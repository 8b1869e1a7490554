"""An extension without a prefix."""

from __future__ import annotations

from assay.lab.client.altered import with_meta
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.message_meta import CAPABILITIES_KEY
from assay.lab.harness.saboteur import Json


@on_message("an extension is declared by a short name", breaks="VER-06")
def change(message: Json, guest: Guest) -> Json:
    def extended(meta: Json) -> Json:
        return {**meta, CAPABILITIES_KEY: {"extensions": {"tasks": {}}}}

    return with_meta(message, extended)
