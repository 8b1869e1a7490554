"""Who waits longest gets the next answer: two requests at once get each other's."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY

HELD = "held"
LISTED = "tools/list 0"
"""The id of the first of several requests for a list."""


@on_reply("two answers trade places", breaks="CONF-JRPC-02.order", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> list[Json]:
    held = context.memory.pop(HELD, None)
    if reply.get("id") == LISTED:
        context.memory[HELD] = reply
        return []
    if held is None:
        return [reply]
    return [{**reply, "id": held["id"]}, {**held, "id": reply["id"]}]
