"""A number without end leaves nothing for those that follow."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR

FULL = "full"


@on_reply(
    "after a number too large nothing is served any more",
    breaks="CONF-JRPC-03.huge-number",
    scenario="negatives.hostile",
)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") in (PARSE_ERROR, INVALID_REQUEST):
        context.memory[FULL] = True
    if "result" not in reply or not context.memory.get(FULL):
        return reply
    error = {"code": INTERNAL_ERROR, "message": "out of memory"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
