"""What the server logs goes to whoever listens."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.suite.listening import ACKNOWLEDGED


@on_reply("log messages come on a listen stream", breaks="SUB-10")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != ACKNOWLEDGED:
        return [reply]
    params = {"_meta": reply["params"]["_meta"], "level": "info", "data": "somebody listens"}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]
