"""A request that is refused is not named in the refusal."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY
from assay.model.error import UNSUPPORTED_VERSION


@on_reply("an error has the id null", breaks="sep-2575-http-server-error-jsonrpc-id", transports=HTTP_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["id"] = None
    return reply
