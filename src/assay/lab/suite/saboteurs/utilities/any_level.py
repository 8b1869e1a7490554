"""Any word is a level."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, meta_of, on_request, params_of
from assay.lab.harness.trace.log_level import LEVELS


@on_request("a log level that does not exist is accepted", breaks="LOG-03")
def change(message: Json, context: FaultContext) -> Json | Answered:
    params = params_of(message)
    if message.get("method") == "logging/setLevel" and params.get("level", "debug") not in LEVELS:
        return Answered([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
    meta = meta_of(message)
    if meta.get(LOG_LEVEL_KEY, "debug") not in LEVELS:
        meta.pop(LOG_LEVEL_KEY)
    return message
