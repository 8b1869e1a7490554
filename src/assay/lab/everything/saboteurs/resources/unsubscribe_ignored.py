"""Unsubscribing is acknowledged, and that is all."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("updates go on after unsubscribing", breaks="resources-unsubscribe")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "resources/unsubscribe":
        return message
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
