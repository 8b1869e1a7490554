"""The name of a skill is not made as names are."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a name has capitals", breaks="sep-2640-name-naming-rules", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["uri"] = skill["uri"].replace("pdf-tools", "PDF--Tools")
    return reply
