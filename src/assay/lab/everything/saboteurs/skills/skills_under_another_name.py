"""The list is not where it belongs."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/list has no `skills`", breaks="sep-2640-skills-list-implemented", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        reply["result"]["entries"] = reply["result"].pop("skills")
    return reply
