"""A resource that is not there is told as a fault of the server."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("a missing resource gets the code of a fault inside", breaks="CONF-JRPC-02.codes")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "uri" in context.params and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply
