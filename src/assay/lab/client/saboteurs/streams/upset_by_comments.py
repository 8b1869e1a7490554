"""A client that knows no comments."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("a stream with comments is not understood", breaks="HTTP-65")
def change(message: Json, guest: Guest) -> Json | None:
    return None if "with comments" in str(message.get("result")) else message
