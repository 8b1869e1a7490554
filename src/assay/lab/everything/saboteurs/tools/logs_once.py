"""The second message is like the first, and is left out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool logs once only", breaks="tools-call-with-logging", silent=True)
def change(reply: Json, context: FaultContext) -> Json | None:
    if reply.get("method") != "notifications/message":
        return reply
    return None if context.memory.setdefault("logged", reply) is not reply else reply
