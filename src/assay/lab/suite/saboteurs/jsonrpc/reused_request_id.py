"""The server counts its requests anew for each call."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a request of the server has an id that it has used before",
    breaks="BASE-04",
    scenario="jsonrpc.own-words",
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return [ping, reply] if context.method == "tools/call" else [reply]
