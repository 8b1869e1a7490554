"""Calls are not written down."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply("the summary names no entry of a ledger", breaks="CONF-CAP-03.tools.ledger")
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said.pop("ledger", None)
    return reply
