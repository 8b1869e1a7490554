"""A skill has more files than a host must take."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a skill has 513 files", breaks="sep-2640-limit-resources-per-skill", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            if skill["resources"] != "dynamic":
                home = skill["uri"].removesuffix("SKILL.md")
                more = [{**skill["resources"][0], "uri": f"{home}{n}.md", "size": 1} for n in range(512)]
                skill["resources"] = [skill["resources"][0], *more]
    return reply
