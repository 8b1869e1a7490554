"""A file that is not there is an unexpected exception."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INTERNAL_ERROR
from assay.revisions.revision import Opening


@on_reply(
    "an unknown resource is an internal error",
    breaks="RS-07",
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply
