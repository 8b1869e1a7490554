"""Errors are printed for people, with indentation."""

from __future__ import annotations

import json

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply(
    "an error is spread over several lines",
    breaks="STD-01",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | bytes:
    return json.dumps(reply, indent=2).encode() if "error" in reply else reply
