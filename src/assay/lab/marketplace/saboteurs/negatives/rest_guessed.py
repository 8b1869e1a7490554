"""What breaks off is taken for a request without parameters."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import INVALID_PARAMS, PARSE_ERROR


@on_reply("a message that breaks off gets -32602", breaks="CONF-JRPC-03.truncated")
def change(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    return (
        {**reply, "error": {**error, "code": INVALID_PARAMS}} if error.get("code") == PARSE_ERROR else reply
    )
