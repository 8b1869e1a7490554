"""The list does not say how long it holds."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/list has no ttlMs", breaks="sep-2640-skills-list-cache-attributes", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        del reply["result"]["ttlMs"]
    return reply
