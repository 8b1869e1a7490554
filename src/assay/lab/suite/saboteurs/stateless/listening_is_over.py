"""A listen request is answered like any other: at once."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.suite.listening import ACKNOWLEDGED


@on_reply("a subscription is answered at once, without acknowledgement", breaks="SUB-02")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") != ACKNOWLEDGED:
        return reply
    meta = reply["params"]["_meta"]
    return {
        "jsonrpc": "2.0",
        "id": meta[SUBSCRIPTION_KEY],
        "result": {"resultType": "complete", "_meta": meta},
    }
