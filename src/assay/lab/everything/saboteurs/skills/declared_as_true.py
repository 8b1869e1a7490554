"""The extension is declared with a word in place of an object."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.extension import SKILLS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the extension is declared with `true`", breaks="sep-2640-capability-empty-object", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"]["extensions"][SKILLS] = True
    return reply
