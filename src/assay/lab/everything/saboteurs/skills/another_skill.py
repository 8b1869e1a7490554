"""Another skill is given than was asked for."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "skills/get gives the entry of another skill", breaks="sep-2640-skills-get-entry-shape", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get" and "result" in reply:
        reply["result"]["skill"]["uri"] = "skill://another/SKILL.md"
    return reply
