"""The server names itself when it is asked, and at no other time."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("results other than discovery's do not name the server", breaks="META-11")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method != "server/discover" and "result" in reply:
        reply["result"].pop("_meta", None)
    return reply
