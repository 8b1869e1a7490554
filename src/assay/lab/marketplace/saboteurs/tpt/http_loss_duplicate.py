"""A server that takes who asks again for a cheat."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import INVALID_REQUEST


@on_request("a request like one before is refused", breaks="CONF-TPT-01.http.loss", transports=HTTP_ONLY)
def change(message: Json, context: FaultContext) -> Json | Answered:
    method, number = message.get("method"), message.get("id")
    if method not in ("ping", "server/discover") or str(number).startswith("sentinel"):
        return message
    seen = context.memory.setdefault("seen", set())
    if method in seen:
        error = {"code": INVALID_REQUEST, "message": "this was asked already"}
        return Answered([{"jsonrpc": "2.0", "id": number, "error": error}])
    seen.add(method)
    return message
