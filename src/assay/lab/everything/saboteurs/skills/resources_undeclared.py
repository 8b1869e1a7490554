"""Skills are declared without resources."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`resources` is not declared", breaks="sep-2640-capability-requires-resources", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        del reply["result"]["capabilities"]["resources"]
    return reply
