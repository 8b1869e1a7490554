"""The number is that of another list."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a completion has more values than its total", breaks="completion-complete")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "result" in reply:
        reply["result"]["completion"] |= {"values": ["one", "two"], "total": 1, "hasMore": False}
    return reply
