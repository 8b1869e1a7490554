"""Whatever version a client asks for is agreed on."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("a version that does not exist is echoed", breaks="LIFE-10")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "initialize" and "result" in reply:
        reply["result"]["protocolVersion"] = turn.params.get("protocolVersion")
    return reply
