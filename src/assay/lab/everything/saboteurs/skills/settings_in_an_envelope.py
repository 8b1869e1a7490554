"""The settings of the extension are wrapped."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.extension import SKILLS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the settings are under `config`", breaks="sep-2640-capability-declaration-inline", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"]["extensions"][SKILLS] = {"config": {"directoryRead": True}}
    return reply
