"""Messages travel in the envelopes of a library."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import WEBSOCKET_ONLY


@on_reply("messages are wrapped in an event", breaks="STD-14", transports=WEBSOCKET_ONLY)
def change(reply: Json, context: FaultContext) -> list[object]:
    return [{"event": "message", "data": reply}, reply]
