"""An error tells all that the server knows of it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a stack trace is in the message of an error", breaks="BASE-16")
def change(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    trace = "Traceback (most recent call last):\n  File \"server.py\", line 12, in serve\nKeyError: 'method'"
    return {**reply, "error": {**reply["error"], "message": trace}}
