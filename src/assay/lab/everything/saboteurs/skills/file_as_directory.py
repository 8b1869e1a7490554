"""A file is read as an empty directory."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a file is taken for a directory", breaks="sep-2640-directory-read-invalid-params", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "error" in reply:
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"resultType": "complete", "resources": []}}
    return reply
