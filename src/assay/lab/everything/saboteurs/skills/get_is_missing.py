"""A method that the extension promises is missing."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/get is unknown", breaks="sep-2640-capability-commits-to-methods", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get":
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32601, "message": "method not found"}}
    return reply
