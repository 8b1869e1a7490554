"""A header that differs is refused for another reason."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import HEADER_MISMATCH, INVALID_REQUEST


@on_reply(
    "a header that differs gets -32600", breaks="sep-2243-server-reject-error-code", transports=HTTP_ONLY
)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == HEADER_MISMATCH:
        reply["error"]["code"] = INVALID_REQUEST
    return reply
