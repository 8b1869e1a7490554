"""The server does not say its name."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the server does not say its name", breaks="sep-2575-server-identifies-in-result-meta")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).get("_meta", {}).pop(SERVER_KEY, None)
    return reply
