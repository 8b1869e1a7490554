"""The second page of a directory is not there."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the cursor of a directory leads nowhere", breaks="sep-2640-directory-read-pagination", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "cursor" in context.params:
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "no such page"}}
    return reply
