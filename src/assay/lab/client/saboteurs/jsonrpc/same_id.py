"""One id for all."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("every request has the same id", breaks="BASE-04")
def change(message: Json, guest: Guest) -> Json:
    return {**message, "id": 7} if "method" in message and "id" in message else message
