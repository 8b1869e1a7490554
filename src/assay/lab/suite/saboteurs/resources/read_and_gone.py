"""A connection's list leaves out what was read on it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("what was read on a connection is not listed there any more", breaks="RS-06", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    read: list[object] = context.memory.setdefault("read", [])
    if context.method == "resources/read":
        read.append(context.params.get("uri"))
    if context.method == "resources/list" and "result" in reply:
        listed = reply["result"]["resources"]
        reply["result"]["resources"] = [item for item in listed if item["uri"] not in read]
    return reply
