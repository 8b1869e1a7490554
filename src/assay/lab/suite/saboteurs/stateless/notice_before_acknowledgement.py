"""What is new is told before the subscription is acknowledged."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.suite.listening import ACKNOWLEDGED


@on_reply("a notification comes before the acknowledgement", breaks="SUB-03")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": reply["params"]["_meta"]}
    return [{"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": params}, reply]
