"""Whoever closes the dialogue was not thought of."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("a user who cancels leads to error -32603", breaks="EL-24")
def change(reply: Json, context: FaultContext) -> Json:
    given = context.params.get("inputResponses", {})
    if not any(answer.get("action") == "cancel" for answer in given.values()):
        return reply
    error = {"code": INTERNAL_ERROR, "message": "unreachable: unknown action"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
