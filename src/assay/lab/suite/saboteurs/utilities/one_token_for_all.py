"""The server asks for progress too, always under the same token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("two requests of the server have the same token", breaks="PRG-02")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    meta = {"_meta": {"progressToken": "progress"}}
    pings = [{"jsonrpc": "2.0", "id": f"ping-{n}", "method": "ping", "params": meta} for n in range(2)]
    return [*pings, reply]
