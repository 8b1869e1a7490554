"""A tool is listed that the registry does not know of."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply("the registry entry lacks a tool", breaks="CONF-CAP-03.registry.agree")
def change(reply: Json, context: FaultContext) -> Json:
    for tool in listed(reply, context, "tools")[:1]:
        reply["result"]["tools"].append({**tool, "name": "newcomer"})
    return reply
