"""A client that knows headers by one spelling."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("an answer with odd header names is not understood", breaks="HTTP-61")
def change(message: Json, guest: Guest) -> Json | None:
    return None if "in odd case" in str(message.get("result")) else message
