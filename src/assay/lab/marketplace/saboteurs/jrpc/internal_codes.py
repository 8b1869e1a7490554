"""All that a handler does not expect is an internal error."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR


@on_reply("every error has the code -32603", breaks="CONF-JRPC-02.codes")
def change(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    return {**reply, "error": {**reply["error"], "code": INTERNAL_ERROR}}
