"""A trace is named by a UUID."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`traceparent` is a UUID", breaks="META-13")
def change(reply: Json, context: FaultContext) -> Json:
    if "result" in reply:
        reply["result"].setdefault("_meta", {})["traceparent"] = "8f14e45f-ceea-467f-a8a1-2e1b0c9d4a3b"
    return reply
