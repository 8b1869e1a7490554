"""A client that cannot be asked is an unexpected exception."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR, MISSING_CAPABILITY


@on_reply("a missing capability is an internal error", breaks="META-10")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        reply["error"] = {"code": INTERNAL_ERROR, "message": "Internal error"}
    return reply
