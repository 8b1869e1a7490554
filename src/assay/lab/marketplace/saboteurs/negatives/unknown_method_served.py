"""An unknown method does nothing, successfully."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("an unknown method is answered with a result", breaks="CONF-JRPC-03.unknown-method")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") != METHOD_NOT_FOUND:
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "result": {}}
