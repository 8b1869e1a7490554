"""Whoever connects is greeted."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import WEBSOCKET_ONLY


@on_reply("a greeting comes before the first message", breaks="STD-14", transports=WEBSOCKET_ONLY)
def change(reply: Json, context: FaultContext) -> list[object]:
    greeted = context.memory.setdefault("greeted", [])
    greeted.append(True)
    return [b"connected", reply] if len(greeted) == 1 else [reply]
