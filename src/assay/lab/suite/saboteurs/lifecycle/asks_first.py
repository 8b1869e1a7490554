"""A server that wants to know its client before it answers."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the client is asked before `initialize` is answered", breaks="LIFE-01")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        return [{"jsonrpc": "2.0", "id": "curious", "method": "roots/list"}, reply]
    return [reply]
