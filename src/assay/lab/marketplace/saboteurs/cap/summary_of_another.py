"""The summary is about another tool."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply("the summary names another tool", breaks="CONF-CAP-03.tools.effects", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["tool"] = "another"
    return reply
