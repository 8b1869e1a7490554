"""The server answers every client with the version it likes."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import HANDSHAKE


@on_reply("another version than the one asked for, though both are supported", breaks="LIFE-09")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        liked = next(one for one in HANDSHAKE if one is not context.revision)
        reply["result"]["protocolVersion"] = liked.date
    return reply
