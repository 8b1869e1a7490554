"""Questions are asked without a look at who could answer."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import MISSING_CAPABILITY


@on_reply("a client that declares nothing is asked for its roots", breaks="MR-06")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") != MISSING_CAPABILITY:
        return reply
    result = {"resultType": "input_required", "inputRequests": {"roots": {"method": "roots/list"}}}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
