"""The last step is reported when all is done."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("progress comes after the answer", breaks="tools-call-with-progress")
def change(reply: Json, turn: Turn) -> list[Json]:
    token = turn.meta.get("progressToken")
    if turn.method != "tools/call" or token is None:
        return [reply]
    params = {"progressToken": token, "progress": 1000}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]
