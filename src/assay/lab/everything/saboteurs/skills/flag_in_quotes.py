"""The flag for directories is a text."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.extension import SKILLS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("directoryRead is a string", breaks="sep-2640-capability-directory-read-flag", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"]["extensions"][SKILLS] = {"directoryRead": "true"}
    return reply
