"""An id that comes again ends the request that has it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, newest_of_each_kind, on_request
from assay.model.error import INVALID_REQUEST


@on_request(
    "the first of two requests with one id is refused",
    breaks="CONF-JRPC-03.id-reuse",
    window=newest_of_each_kind,
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("id") != "reused" or not str(message.get("method")).endswith("/list"):
        return message
    error = {"code": INVALID_REQUEST, "message": "the id is in use"}
    return Answered([{"jsonrpc": "2.0", "id": "reused", "error": error}])
