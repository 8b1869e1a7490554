"""A listener hears of a change before the acknowledgement."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.suite.listening import ACKNOWLEDGED


@on_reply("a change comes before the acknowledgement", breaks="sep-2575-server-sends-subscription-ack")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    notice = {"jsonrpc": "2.0", "method": LISTS["tools"][0], "params": {"_meta": reply["params"]["_meta"]}}
    return [notice, reply]
