"""A resource that does not exist gets the code of earlier revisions."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import RESOURCE_NOT_FOUND


@on_reply("a resource that does not exist gets -32002", breaks="sep-2164-error-code")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = RESOURCE_NOT_FOUND
    return reply
