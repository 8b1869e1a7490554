"""Error codes are words."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`error.code` is a string", breaks="BASE-08")
def change(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    return {**reply, "error": {**reply["error"], "code": str(reply["error"]["code"])}}
