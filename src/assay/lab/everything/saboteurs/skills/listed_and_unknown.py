"""A skill that is listed cannot be had."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/get does not know a listed skill", breaks="sep-2640-skills-get-implemented", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get":
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": -32602, "message": "no such skill"}}
    return reply
