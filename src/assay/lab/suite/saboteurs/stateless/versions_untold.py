"""A version is refused, and nothing is offered instead."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import UNSUPPORTED_VERSION


@on_reply("a refused version comes without those that are supported", breaks="VER-01")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        del reply["error"]["data"]
    return reply
