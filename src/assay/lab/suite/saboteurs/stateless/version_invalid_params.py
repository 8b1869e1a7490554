"""A version that is not spoken is a bad parameter."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_PARAMS, UNSUPPORTED_VERSION


@on_reply("an unsupported version gets -32602", breaks="VER-01")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["code"] = INVALID_PARAMS
    return reply
