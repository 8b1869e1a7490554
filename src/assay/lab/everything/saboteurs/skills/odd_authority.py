"""The first segment of a URI is no host name."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the first segment has a space", breaks="sep-2640-authority-reg-name", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["uri"] = skill["uri"].replace("skill://", "skill://my team/")
    return reply
