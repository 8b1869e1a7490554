"""A reader that runs out of stack is an internal error."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR


@on_reply(
    "a message nested too deep gets -32603",
    breaks="CONF-JRPC-03.deep-nesting",
    scenario="negatives.hostile",
)
def change(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") not in (PARSE_ERROR, INVALID_REQUEST):
        return reply
    return {**reply, "error": {**error, "code": INTERNAL_ERROR}}
