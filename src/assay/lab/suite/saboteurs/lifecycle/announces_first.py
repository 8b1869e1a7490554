"""The first thing that a client hears is that the tools have changed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a list is announced before `initialize` is answered", breaks="LIFE-01")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, reply]
    return [reply]
