"""Skills have a scheme of their own."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills are served under another scheme", breaks="sep-2640-skill-uri-scheme", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["uri"] = skill["uri"].replace("skill://", "acme://")
    return reply
