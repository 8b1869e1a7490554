"""The log is written out when the request is done."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("log messages come after the final response", breaks="LOG-06", scenario="utilities.working")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or LOG_LEVEL_KEY not in context.meta:
        return [reply]
    params = {"level": "info", "data": "done"}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/message", "params": params}]
