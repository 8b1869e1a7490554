"""After what it could not read, the reader never finds its place again."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import PARSE_ERROR

LOST = "lost"


@on_reply(
    "after text that is no JSON every request gets -32700",
    breaks="CONF-JRPC-03.recovers",
    scenario="negatives.text",
)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == PARSE_ERROR:
        context.memory[LOST] = True
    if "result" not in reply or not context.memory.get(LOST):
        return reply
    error = {"code": PARSE_ERROR, "message": "no JSON"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
