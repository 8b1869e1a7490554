"""Everybody gets progress; who gave no token gets the id of the request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("progress for a request without a token", breaks="PRG-04")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or "progressToken" in context.meta:
        return [reply]
    params = {"progressToken": f"request-{reply['id']}", "progress": 1}
    return [{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}, reply]
