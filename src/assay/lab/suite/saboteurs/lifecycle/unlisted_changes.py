"""Changes of a list are announced, though that was never promised."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("list changes are announced without `listChanged`", breaks="LIFE-14")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["capabilities"]["tools"] = {}
    if context.method == "tools/call":
        return [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, reply]
    return [reply]
