"""A ping is answered with an error."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("a ping is answered with an error", breaks="PNG-01")
def change(message: Json, guest: Guest) -> Json:
    if message.get("result") == {}:
        error = {"code": -32601, "message": "no ping here"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return message
