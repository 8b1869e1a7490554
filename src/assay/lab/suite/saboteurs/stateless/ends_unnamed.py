"""The end of a subscription does not say of which."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.suite.listening import ACKNOWLEDGED


@on_reply("a subscription ends with a result that does not name it", breaks="SUB-08")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    name = reply["params"]["_meta"][SUBSCRIPTION_KEY]
    return [reply, {"jsonrpc": "2.0", "id": name, "result": {"resultType": "complete"}}]
