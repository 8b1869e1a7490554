"""What is got does not say which version it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import VERSION


@on_reply("prompts/get returns no version", breaks="CONF-CAP-03.prompts.version", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        reply["result"].get("_meta", {}).pop(VERSION, None)
    return reply
