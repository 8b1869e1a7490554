"""The manifest has an older version of a prompt."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.cap_sabotaging import is_manifest


@on_reply(
    "a prompt has another version than its manifest says",
    breaks="CONF-CAP-03.manifests.agree",
    transports=HTTP_ONLY,
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    if is_manifest(context) and "version" in reply:
        reply["version"] = "0.0.1"
    return reply
