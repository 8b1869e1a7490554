"""The capability was copied from an example."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import METHOD_NOT_FOUND


@on_reply("`subscribe` is declared and not implemented", breaks="RS-03", scenario="resources.subscribing")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/subscribe":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
