"""A prefix that is none."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("a prefix in `_meta` begins with a digit", breaks="META-01")
def change(message: Json, guest: Guest) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(message, ("params", "_meta"), lambda meta: {**meta, "1-st./key": 1})
