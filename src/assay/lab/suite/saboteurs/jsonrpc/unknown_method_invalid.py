"""Methods that do not exist are called invalid requests."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_REQUEST, METHOD_NOT_FOUND


@on_reply("an unknown method gets -32600", breaks="BASE-26")
def change(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") != METHOD_NOT_FOUND:
        return reply
    return {**reply, "error": {**error, "code": INVALID_REQUEST}}
