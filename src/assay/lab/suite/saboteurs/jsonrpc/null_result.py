"""A result that holds nothing is null."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import HANDSHAKE


@on_reply(
    "an empty result is null",
    breaks="SHAPE-01",
    scenario="jsonrpc.ids",
    window=lambda revision: revision in HANDSHAKE,
)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": None} if reply.get("result") == {} else reply
