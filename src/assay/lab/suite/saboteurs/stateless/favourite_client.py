"""One client is offered more than the others."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CLIENT, CLIENT_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("what is declared depends on the name of the client", breaks="META-12")
def change(reply: Json, context: FaultContext) -> Json:
    client = context.meta.get(CLIENT_KEY)
    if context.method == "server/discover" and "result" in reply and client != CLIENT:
        reply["result"]["capabilities"] = {"tools": {}}
    return reply
