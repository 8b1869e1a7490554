"""The list of skills has no end."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/list always has another page", breaks="sep-2640-skills-list-pagination", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        reply["result"]["nextCursor"] = "0"
    return reply
