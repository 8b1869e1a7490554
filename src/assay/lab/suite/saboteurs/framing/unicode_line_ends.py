"""Lines are split wherever Unicode would end one."""

from __future__ import annotations

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import PARSE_ERROR


@on_request(
    "a line separator inside a text ends the line",
    breaks="BASE-09",
    scenario="framing.lines",
    transports=STDIO_ONLY,
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    pieces = encode(message).decode().splitlines()
    broken = {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": "parse error"}}
    return message if len(pieces) == 1 else Answered([broken for _ in pieces])
