"""A client must say who it is, though it need not."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CLIENT_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_PARAMS


@on_reply("a request without `clientInfo` is refused", breaks="META-12")
def change(reply: Json, context: FaultContext) -> Json:
    if context.asked is None or CLIENT_KEY in context.meta:
        return reply
    error = {"code": INVALID_PARAMS, "message": "clientInfo is required"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
