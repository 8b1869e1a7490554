"""A schema has another property each time it is asked for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.jrpc_lists import SERVER

SEEN = "seen"


@on_reply("the schemas of tools change from reading to reading", breaks="CONF-JRPC-02.drift", server=SERVER)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        context.memory[SEEN] = context.memory.get(SEEN, 0) + 1
        for tool in reply["result"]["tools"]:
            tool["inputSchema"].setdefault("properties", {})[f"added{context.memory[SEEN]}"] = {}
    return reply
