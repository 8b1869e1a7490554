"""The version of a request is not looked at."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request
from assay.lab.harness.transport import STDIO_ONLY


@on_request("a version that does not exist is served", breaks="VER-01", transports=STDIO_ONLY)
def change(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta:
        meta[VERSION_KEY] = context.revision.date
    return message
