"""A notification of the newest revision goes to clients of older ones."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a notification is sent that the agreed revision does not have", breaks="LIFE-13")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "tools/call":
        params = {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        method = "notifications/subscriptions/acknowledged"
        return [{"jsonrpc": "2.0", "method": method, "params": params}, reply]
    return [reply]
