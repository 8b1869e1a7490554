"""All entries of a manifest have the same name."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.cap_sabotaging import is_manifest


@on_reply("names in a manifest are not unique", breaks="CONF-CAP-03.manifests.form", transports=HTTP_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    if is_manifest(context):
        reply["name"] = "same"
    return reply
