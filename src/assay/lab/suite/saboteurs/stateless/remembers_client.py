"""What a client said of itself once is taken to hold for the connection."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request, params_of


@on_request("what a request lacks is taken from an earlier one", breaks="BASE-27")
def change(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta and CAPABILITIES_KEY in meta:
        context.memory.update(meta)
    elif context.memory:
        params_of(message)["_meta"] = {**context.memory, **meta}
    return message
