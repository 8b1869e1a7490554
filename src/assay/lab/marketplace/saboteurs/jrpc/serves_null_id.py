"""A null id is an id like any other."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request


@on_request("a request with the id null is served", breaks="CONF-JRPC-02.id-null")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("id", 0) is not None:
        return message
    return Answered([{"jsonrpc": "2.0", "id": None, "result": {}}])
