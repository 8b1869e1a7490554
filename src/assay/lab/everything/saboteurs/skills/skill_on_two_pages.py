"""A skill is on every page."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a skill is on two pages", breaks="sep-2640-skills-list-entry-atomic", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        first = context.memory.setdefault("first", reply["result"]["skills"][0])
        if "cursor" in context.params:
            reply["result"]["skills"].append(first)
    return reply
