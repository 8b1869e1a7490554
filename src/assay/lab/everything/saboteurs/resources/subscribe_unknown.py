"""Who declares subscriptions need not have them."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("subscribing is refused", breaks="resources-subscribe")
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "resources/subscribe":
        message["method"] = "resources/subscriptions"
    return message
