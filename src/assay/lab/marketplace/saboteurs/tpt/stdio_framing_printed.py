"""A server that prints its messages for people."""

from __future__ import annotations

import json

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply(
    "an error is printed over several lines",
    breaks="CONF-TPT-01.stdio.framing",
    transports=STDIO_ONLY,
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | bytes:
    return json.dumps(reply, indent=2).encode() if "error" in reply else reply
