"""A client that could be asked once can be asked for ever."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request


@on_request("capabilities of earlier requests are taken to hold", breaks="META-09")
def change(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if CAPABILITIES_KEY in meta:
        context.memory.update(meta[CAPABILITIES_KEY])
        meta[CAPABILITIES_KEY] = dict(context.memory)
    return message
