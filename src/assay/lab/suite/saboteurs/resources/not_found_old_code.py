"""The code of earlier revisions is still in use."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import RESOURCE_NOT_FOUND


@on_reply("an unknown resource gets -32002, which is retired", breaks="RS-08")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = RESOURCE_NOT_FOUND
    return reply
