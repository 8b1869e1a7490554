"""Progress is counted for the server, not for who asked."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("progress comes under another token", breaks="tools-call-with-progress", silent=True)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progressToken"] = "progress-of-the-server"
    return reply
