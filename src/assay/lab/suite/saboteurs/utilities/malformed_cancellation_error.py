"""Notifications are validated like requests."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_PARAMS


@on_request("a malformed cancellation is answered with an error", breaks="CAN-09")
def change(message: Json, context: FaultContext) -> Json | Answered:
    named = params_of(message).get("requestId")
    if message.get("method") != "notifications/cancelled" or isinstance(named, int | str):
        return message
    error = {"code": INVALID_PARAMS, "message": "requestId: Field required"}
    return Answered([{"jsonrpc": "2.0", "id": None, "error": error}])
