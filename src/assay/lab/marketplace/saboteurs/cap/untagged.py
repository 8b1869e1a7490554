"""Nobody is told how long a resource may be kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_meta import RETENTION
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply("what is read has no retention tier", breaks="CONF-CAP-03.resources.retention")
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        content["_meta"].pop(RETENTION)
    return reply
