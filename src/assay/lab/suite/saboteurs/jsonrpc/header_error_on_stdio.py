"""One way to refuse, for all transports: headers are missing where there are none."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import HEADER_MISMATCH


@on_reply("on stdio an error speaks of headers", breaks="BASE-23", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": HEADER_MISMATCH}} if "error" in reply else reply
