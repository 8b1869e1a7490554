"""What a tool did is not told."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_meta import EFFECTS
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply("results of tools have no summary of effects", breaks="CONF-CAP-03.tools.effects")
def change(reply: Json, context: FaultContext) -> Json:
    if summary(reply, context) is not None:
        reply["result"]["_meta"].pop(EFFECTS)
    return reply
