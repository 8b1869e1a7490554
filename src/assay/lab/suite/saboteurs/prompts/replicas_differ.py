"""Two replicas behind one address, of which one reads an older folder of templates."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY


@on_reply("every second reading of the list lacks a prompt", breaks="PR-04", transports=HTTP_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "cursor" not in context.params and "result" in reply:
        context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            del reply["result"]["prompts"][0]
    return reply
