"""A call that fails is cancelled by the server, then answered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the server sends a cancellation for a tool call", breaks="CAN-13", scenario="utilities.working")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "tools/call" and reply.get("result", {}).get("isError"):
        params = {"requestId": reply["id"], "reason": "failed"}
        return [{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}, reply]
    return [reply]
