"""A line longer than the reader's buffer is taken for rubbish."""

from __future__ import annotations

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import PARSE_ERROR

BUFFER = 64 * 1024


@on_request(
    "a line over 64 KiB is no JSON", breaks="BASE-09", scenario="framing.lines", transports=STDIO_ONLY
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    if len(encode(message)) <= BUFFER:
        return message
    return Answered([{"jsonrpc": "2.0", "error": {"code": PARSE_ERROR, "message": "parse error"}}])
