"""A call unlocks another tool, for the connection that made it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("a tool shows up once a call was made on the connection", breaks="TL-04", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call":
        context.memory["called"] = True
    if context.method == "tools/list" and "result" in reply and context.memory.get("called"):
        tools = reply["result"]["tools"]
        tools.append({**tools[0], "name": "now_unlocked"})
    return reply
