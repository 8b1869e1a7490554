"""A handler that returns nothing: its result is left out of the response."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import HANDSHAKE


@on_reply(
    "an empty result is left out",
    breaks="BASE-07",
    scenario="jsonrpc.ids",
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json:
    return {"jsonrpc": "2.0", "id": reply["id"]} if reply.get("result") == {} else reply
