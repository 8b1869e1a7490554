"""The client has no model to ask, and is asked."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("sampling is requested of a client that did not declare it", breaks="LIFE-14")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    said = {"role": "user", "content": {"type": "text", "text": "Hello?"}}
    params = {"messages": [said], "maxTokens": 10}
    return [{"jsonrpc": "2.0", "id": "sample", "method": "sampling/createMessage", "params": params}, reply]
