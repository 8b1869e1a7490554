"""Who cancels something unknown is told so."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_PARAMS


@on_request("cancelling an unknown request is answered with an error", breaks="CAN-09")
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "notifications/cancelled":
        context.memory[repr(message.get("id"))] = True
        return message
    named = params_of(message).get("requestId")
    if not isinstance(named, int | str) or repr(named) in context.memory:
        return message
    error = {"code": INVALID_PARAMS, "message": "no such request"}
    return Answered([{"jsonrpc": "2.0", "id": None, "error": error}])
