"""The summary denies what the list says of the tool."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply(
    "the summary declares the opposite of the hints",
    breaks="CONF-CAP-03.tools.effects",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["declared"] = {hint: not value for hint, value in said["declared"].items()}
    return reply
