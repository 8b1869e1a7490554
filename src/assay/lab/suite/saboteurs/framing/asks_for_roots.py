"""A server that asks its client as in earlier revisions."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("a request for roots is written to standard output", breaks="STD-07", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> list[Json]:
    asked = bool(context.memory)
    context.memory["asked"] = True
    return [reply] if asked else [{"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"}, reply]
