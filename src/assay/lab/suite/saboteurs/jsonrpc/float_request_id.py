"""The server's own requests are numbered by the clock, in seconds."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a request of the server has an id with a fraction", breaks="BASE-02", scenario="jsonrpc.own-words")
def change(reply: Json, context: FaultContext) -> list[Json]:
    context.memory["clock"] = context.memory.get("clock", 1700000000.25) + 0.5
    return (
        [{"jsonrpc": "2.0", "id": context.memory["clock"], "method": "ping"}, reply]
        if "result" in reply
        else [reply]
    )
