"""Who subscribes, subscribes for good."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("unsubscribing is refused", breaks="resources-unsubscribe")
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "resources/unsubscribe":
        message["method"] = "resources/leave"
    return message
