"""Every call has the same entry."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.trace.digest import digest_of
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply(
    "two calls have the same entry in the ledger",
    breaks="CONF-CAP-03.tools.ledger",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["ledger"] = {"seq": 1, "entryHash": digest_of(b"")}
    return reply
