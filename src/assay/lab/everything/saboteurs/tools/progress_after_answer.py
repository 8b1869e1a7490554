"""The last step is reported when all is done."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("progress comes after the answer", breaks="tools-call-with-progress")
def change(reply: Json, context: FaultContext) -> list[Json]:
    token = context.meta.get("progressToken")
    if context.method != "tools/call" or token is None:
        return [reply]
    params = {"progressToken": token, "progress": 1000}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]
