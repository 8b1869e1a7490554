"""Notifications get a result, with an id that nobody sent."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("a notification is answered with an empty result", breaks="CONF-JRPC-02.notifications")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if "id" in message or message.get("method") == "notifications/initialized":
        return message
    return Answered([{"jsonrpc": "2.0", "id": None, "result": {}}])
