"""Who listens hears the log too."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("log messages on a listen stream", breaks="LOG-07")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != "notifications/subscriptions/acknowledged":
        return [reply]
    params = {"level": "info", "data": "somebody listens", "_meta": reply["params"]["_meta"]}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]
