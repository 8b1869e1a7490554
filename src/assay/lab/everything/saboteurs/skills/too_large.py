"""A skill is larger than a host must take."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a skill has more than 16 MiB", breaks="sep-2640-limit-total-size", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            for file in skill["resources"] if skill["resources"] != "dynamic" else ():
                file["size"] = 2**24 + 1
    return reply
