"""Who hangs up gets the answer on the next stream."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("a request that was hung up on is answered on another stream", breaks="HTTP-20")
def change(block: bytes, context: FaultContext) -> bytes:
    if context.method == "subscriptions/listen":
        context.memory["left"] = context.asked["id"] if context.asked is not None else None
        return block
    answer = {"jsonrpc": "2.0", "id": context.memory.get("left"), "result": {"resultType": "complete"}}
    return b"data: %b\n\n%b" % (msgspec.json.encode(answer), block)
