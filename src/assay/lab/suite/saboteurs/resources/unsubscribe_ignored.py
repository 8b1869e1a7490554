"""Unsubscribing is acknowledged, and that is all."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.registry import HANDSHAKE


@on_request(
    "updates go on after unsubscribing",
    breaks="RS-03",
    transports=STDIO_ONLY,
    scenario="resources.changes",
    window=lambda revision: revision is HANDSHAKE[-1],
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") != "resources/unsubscribe":
        return message
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
