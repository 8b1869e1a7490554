"""What is read carries no digest."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_meta import PROVENANCE
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply("what is read has no provenance", breaks="CONF-CAP-03.resources.provenance")
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        content["_meta"].pop(PROVENANCE)
    return reply
