"""Skills cannot be found."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an entry has no uri", breaks="sep-2640-entry-uri-required", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            del skill["uri"]
    return reply
