"""Who hangs up is told of changes on the next stream."""

from __future__ import annotations

import msgspec

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("what was listened for is told after hanging up, on another stream", breaks="HTTP-21")
def change(block: bytes, context: FaultContext) -> bytes:
    if context.method == "subscriptions/listen":
        context.memory["left"] = context.asked["id"] if context.asked is not None else None
        return block
    meta = {"_meta": {SUBSCRIPTION_KEY: context.memory.get("left")}}
    told = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": meta}
    return b"data: %b\n\n%b" % (msgspec.json.encode(told), block)
