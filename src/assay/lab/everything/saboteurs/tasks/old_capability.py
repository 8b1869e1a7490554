"""Tasks are declared where an earlier revision had them, too."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`capabilities.tasks` is there", breaks="tasks-extension-advertised", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"]["tasks"] = {}
    return reply
