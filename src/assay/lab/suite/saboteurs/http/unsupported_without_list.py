"""A version is refused, and nobody learns which would do."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import UNSUPPORTED_VERSION


@on_reply("the supported versions are not listed", breaks="HTTP-51", transports=HTTP_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"].pop("data", None)
    return reply
