"""A tool is listed that the manifest lacks."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply(
    "the manifest lacks a tool",
    breaks="CONF-CAP-03.manifests.agree",
    transports=HTTP_ONLY,
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for tool in listed(reply, context, "tools")[:1]:
        reply["result"]["tools"].append({**tool, "name": "newcomer"})
    return reply
