"""The tool that writes files is said to read only."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_sabotaging import WRITER, call_reader


@on_reply("a tool that reports changes has readOnlyHint", breaks="CONF-CAP-03.tools.read-only")
def change(reply: Json, context: FaultContext) -> Json:
    call_reader(reply, context, WRITER)
    return reply
