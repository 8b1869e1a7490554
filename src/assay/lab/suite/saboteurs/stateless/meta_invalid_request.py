"""What a request lacks makes it invalid, but with another code."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_REQUEST


@on_reply("a request without version or capabilities gets -32600", breaks="META-08")
def change(reply: Json, context: FaultContext) -> Json:
    meta = context.meta
    if "error" in reply and not {VERSION_KEY, CAPABILITIES_KEY} <= meta.keys():
        reply["error"]["code"] = INVALID_REQUEST
    return reply
