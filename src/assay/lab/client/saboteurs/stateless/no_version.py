"""A request without its version."""

from __future__ import annotations

from assay.lab.client.altered import with_meta, without
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.message_meta import VERSION_KEY
from assay.lab.harness.saboteur import Json


@on_message("requests lack their version", breaks="META-05")
def change(message: Json, guest: Guest) -> Json:
    return with_meta(message, lambda meta: without(meta, VERSION_KEY))
