"""A cursor is forgotten when it has been used."""

from __future__ import annotations

from assay.lab.harness.saboteur import Answered, Json, Turn, on_request
from assay.model.error import INVALID_PARAMS


@on_request("a cursor works once", breaks="PAG-02")
def change(message: Json, turn: Turn) -> Json | Answered:
    cursor = message.get("params", {}).get("cursor")
    if cursor is None or cursor not in turn.memory:
        turn.memory[cursor] = True
        return message
    error = {"code": INVALID_PARAMS, "message": "cursor expired"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])
