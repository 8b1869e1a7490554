"""Every call is logged, whether its client wants that or not."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("log messages for a request that did not ask for them", breaks="LOG-05")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or LOG_LEVEL_KEY in context.meta:
        return [reply]
    params = {"level": "info", "data": "called"}
    return [{"jsonrpc": "2.0", "method": "notifications/message", "params": params}, reply]
