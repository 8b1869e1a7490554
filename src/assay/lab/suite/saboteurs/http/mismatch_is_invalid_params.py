"""Headers that differ are called bad parameters."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import HEADER_MISMATCH, INVALID_PARAMS


@on_reply("a header that differs gets -32602", breaks="HTTP-58", transports=HTTP_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") != HEADER_MISMATCH:
        return reply
    return {**reply, "error": {**error, "code": INVALID_PARAMS}}
