"""A resource may be kept for as long as nobody has heard of."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import RETENTION
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply(
    "the retention tier is none of the profile's",
    breaks="CONF-CAP-03.resources.retention",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        content["_meta"][RETENTION]["tier"] = "forever"
    return reply
