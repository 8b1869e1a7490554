"""Who hangs up gets the answer on the next stream."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import Turn, on_block


@on_block("a request that was hung up on is answered on another stream", breaks="HTTP-20")
def change(block: bytes, turn: Turn) -> bytes:
    if turn.method == "subscriptions/listen":
        turn.memory["left"] = turn.asked["id"] if turn.asked is not None else None
        return block
    answer = {"jsonrpc": "2.0", "id": turn.memory.get("left"), "result": {"resultType": "complete"}}
    return b"data: %b\n\n%b" % (msgspec.json.encode(answer), block)
