"""Directories cannot be read, though that is declared."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "resources/directory/read is unknown", breaks="sep-2640-directory-read-method-registered", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read":
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32601, "message": "method not found"}}
    return reply
