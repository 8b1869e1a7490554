"""The server's name is where the handshake had it."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("discovery names the server in `serverInfo`, not in `_meta`", breaks="VER-05")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["serverInfo"] = reply["result"].pop("_meta")[SERVER_KEY]
    return reply
