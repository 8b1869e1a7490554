"""Prompts have no versions in their manifest."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.cap_sabotaging import is_manifest


@on_reply(
    "prompts in a manifest have no version",
    breaks="CONF-CAP-03.manifests.form",
    transports=HTTP_ONLY,
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    if is_manifest(context):
        reply.pop("version", None)
    return reply
