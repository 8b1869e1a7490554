"""Any answer will do."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("an answer under another id is taken for the one that is waited for", breaks="HOSTILE-01")
def change(message: Json, guest: Guest) -> Json:
    waiting = guest.ears.waiting
    if message.get("id") != "nobody-asked" or not waiting:
        return message
    return {**message, "id": waiting[-1].id}
