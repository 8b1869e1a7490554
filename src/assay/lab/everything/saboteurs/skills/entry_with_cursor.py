"""One entry has a next page."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("skills/get has a cursor", breaks="sep-2640-skills-get-no-cursor", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get" and "result" in reply:
        reply["result"]["nextCursor"] = "1"
    return reply
