"""Requests are kept by id: the second takes the place of the first."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("the first of two requests gets the answer of the second", breaks="CONF-JRPC-03.id-reuse")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("id") != "reused" or not str(message.get("method")).endswith("/list"):
        return message
    return Answered([{"jsonrpc": "2.0", "id": "reused", "result": {}}])
