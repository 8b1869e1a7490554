"""The manifest was written before the tools were changed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply(
    "a tool has another schema than its manifest says",
    breaks="CONF-CAP-03.manifests.agree",
    transports=HTTP_ONLY,
)
def change(reply: Json, context: FaultContext) -> Json:
    for tool in listed(reply, context, "tools"):
        tool["inputSchema"]["description"] = "Changed since"
    return reply
