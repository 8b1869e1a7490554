"""Whatever has an id is answered, responses too."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.model.error import INVALID_REQUEST


@on_request(
    "a response that nobody asked for is answered", breaks="BASE-06", scenario="jsonrpc.stray-response"
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if "method" in message or "id" not in message:
        return message
    error = {"code": INVALID_REQUEST, "message": "there is no method in this request"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error} for _ in range(2)])
