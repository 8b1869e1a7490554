"""A level that does not exist is an exception that nobody caught."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.trace.log_level import LEVELS
from assay.model.error import INTERNAL_ERROR


@on_reply("a log level that does not exist gets -32603", breaks="LOG-03")
def change(reply: Json, context: FaultContext) -> Json:
    level = context.params.get("level", context.meta.get(LOG_LEVEL_KEY, "debug"))
    if level not in LEVELS and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply
