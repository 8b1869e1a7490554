"""A tool's result has no content, and says that it is complete."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool's result has no content", breaks="SHAPE-01", scenario="tools.read-only-calls")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "result" in reply:
        reply["result"].pop("content", None)
    return reply
