"""The manifest is not among the files."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the files lack SKILL.md", breaks="sep-2640-resources-complete", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            if skill["resources"] != "dynamic":
                skill["resources"] = skill["resources"][1:]
    return reply
