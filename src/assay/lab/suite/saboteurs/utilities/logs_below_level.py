"""A request that asks for errors gets everything."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request
from assay.lab.harness.trace.log_level import LEVELS


@on_request("log messages below the level that the request asks for", breaks="LOG-06")
def change(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if meta.get(LOG_LEVEL_KEY) in LEVELS:
        meta[LOG_LEVEL_KEY] = LEVELS[0]
    return message
