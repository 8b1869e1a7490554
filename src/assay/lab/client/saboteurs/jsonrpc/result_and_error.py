"""An answer that says both."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("an answer is a result and an error", breaks="BASE-07")
def change(message: Json, guest: Guest) -> Json:
    if "method" in message:
        return message
    return {"result": {}, "error": {"code": -32603, "message": "both"}, **message}
