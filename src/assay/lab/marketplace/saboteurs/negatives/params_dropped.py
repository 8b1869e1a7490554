"""Parameters that are none are left out of account."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("a request with a text for parameters is served", breaks="CONF-JRPC-03.params")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if isinstance(message.get("params", {}), dict | list):
        return message
    return Answered([{"jsonrpc": "2.0", "id": message.get("id"), "result": {}}])
