"""The server sees whether the client is still there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("the client is pinged", breaks="BASE-32", transports=STDIO_ONLY, scenario="stateless.discovery")
def change(reply: Json, context: FaultContext) -> list[Json]:
    ping = {"jsonrpc": "2.0", "id": "are-you-there", "method": "ping"}
    return [ping, reply] if context.method == "tools/list" else [reply]
