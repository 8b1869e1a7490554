"""Every reading gives another text."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply("a resource differs at each read", breaks="CONF-CAP-03.resources.stable")
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        context.memory["reads"] = context.memory.get("reads", 0) + 1
        content["text"] = f"{content.get('text', '')}, read {context.memory['reads']}"
    return reply
