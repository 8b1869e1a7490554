"""Two replicas behind one address, of which one has an older release."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply
from assay.lab.harness.transport import HTTP_ONLY


@on_reply("every second reading of the list lacks a tool", breaks="TL-04", transports=HTTP_ONLY)
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "cursor" not in turn.params and "result" in reply:
        turn.memory["read"] = turn.memory.get("read", 0) + 1
        if turn.memory["read"] % 2:
            del reply["result"]["tools"][0]
    return reply
