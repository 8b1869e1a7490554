"""A call unlocks another tool, for the connection that made it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("a tool shows up once a call was made on the connection", breaks="TL-04", transports=STDIO_ONLY)
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/call":
        turn.memory["called"] = True
    if turn.method == "tools/list" and "result" in reply and turn.memory.get("called"):
        tools = reply["result"]["tools"]
        tools.append({**tools[0], "name": "now_unlocked"})
    return reply
