"""An answer that came too early is kept for later."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("an answer from before the request is taken for its answer", breaks="HOSTILE-01")
def change(message: Json, guest: Guest) -> Json:
    kept: dict[str, Json] = guest.memory.setdefault("kept", {})
    if "method" in message:
        return message
    name = repr(message.get("id"))
    if message.get("id") not in [one.id for one in guest.ears.waiting]:
        kept.setdefault(name, message)
    return kept.get(name, message)
