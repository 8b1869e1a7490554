"""A trace that nobody can follow."""

from __future__ import annotations

from assay.lab.client.altered import with_meta
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("`traceparent` has no form", breaks="META-13")
def change(message: Json, guest: Guest) -> Json:
    return with_meta(message, lambda meta: {**meta, "traceparent": "here-and-there"})
