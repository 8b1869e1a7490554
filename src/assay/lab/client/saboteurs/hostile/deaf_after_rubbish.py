"""What is no message makes the client deaf."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing(
    "nothing is heard any more after what is no message", breaks="HOSTILE-04", scenario="hostile.rubbish"
)
def change(message: Json, guest: Guest) -> Json | None:
    guest.memory["deaf"] = guest.memory.get("deaf") or "hello" in message
    return None if guest.memory["deaf"] else message
