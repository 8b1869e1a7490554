"""`ping` is not answered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("ping is never answered", breaks="PNG-01", transports=STDIO_ONLY, silent=True)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if context.method == "ping" else reply
