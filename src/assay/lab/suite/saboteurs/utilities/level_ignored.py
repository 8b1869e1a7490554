"""The level can be set, and nobody looks at it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("`logging/setLevel` changes nothing", breaks="LOG-02")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "logging/setLevel":
        return message
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
