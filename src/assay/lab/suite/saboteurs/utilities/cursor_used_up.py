"""A cursor is forgotten when it has been used."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_PARAMS


@on_request("a cursor works once", breaks="PAG-02")
def change(message: Json, context: FaultContext) -> Json | Answered:
    cursor = params_of(message).get("cursor")
    used = context.memory.setdefault("used", [])
    if cursor is None or cursor not in used:
        used.append(cursor)
        return message
    error = {"code": INVALID_PARAMS, "message": "cursor expired"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
