"""A server that takes CR for rubbish."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import PARSE_ERROR


@on_request("a line that ends in CR LF is no JSON", breaks="CONF-TPT-01.stdio.framing", transports=STDIO_ONLY)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("id") != "crlf":
        return message
    error = {"code": PARSE_ERROR, "message": "parse error"}
    return Answered([{"jsonrpc": "2.0", "id": "crlf", "error": error}])
