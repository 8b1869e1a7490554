"""A call becomes a task, whether the client knows of tasks or not."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a call is answered with a task", breaks="VER-07", scenario="stateless.first-request")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "result" not in reply:
        return reply
    made = "2026-01-01T00:00:00Z"
    task = {"taskId": "1", "status": "working", "createdAt": made, "lastUpdatedAt": made, "ttlMs": None}
    return {**reply, "result": {"resultType": "task", **task}}
