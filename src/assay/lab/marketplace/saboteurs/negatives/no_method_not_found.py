"""A method that is missing is one that is not found."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.model.error import METHOD_NOT_FOUND


@on_request("a request without a method gets -32601", breaks="CONF-JRPC-03.method")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if isinstance(message.get("method"), str) or "id" not in message:
        return message
    error = {"code": METHOD_NOT_FOUND, "message": "there is no such method"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
