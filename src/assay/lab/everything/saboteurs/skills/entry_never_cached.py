"""An entry does not say who may keep it."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/get has no cacheScope", breaks="sep-2640-skills-get-cache-attributes", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get" and "result" in reply:
        del reply["result"]["cacheScope"]
    return reply
