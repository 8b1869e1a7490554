"""A tool that failed says nothing of what it did."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import EFFECTS
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply(
    "failed calls have no summary of effects", breaks="CONF-CAP-03.tools.effects", window=newest_of_each_kind
)
def change(reply: Json, context: FaultContext) -> Json:
    if summary(reply, context) is not None and reply["result"].get("isError"):
        reply["result"]["_meta"].pop(EFFECTS)
    return reply
