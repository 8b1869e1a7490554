"""A subscription is named by its id as text."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_reply


@on_reply("the id of a subscription is a string where the request's was a number", breaks="SUB-05")
def change(reply: Json, context: FaultContext) -> Json:
    meta = meta_of(reply)
    if SUBSCRIPTION_KEY in meta:
        meta[SUBSCRIPTION_KEY] = str(meta[SUBSCRIPTION_KEY])
    return reply
