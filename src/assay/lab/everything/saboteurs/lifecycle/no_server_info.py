"""The server does not say who it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a handshake is answered without serverInfo", breaks="server-initialize")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"].pop("serverInfo")
    return reply
