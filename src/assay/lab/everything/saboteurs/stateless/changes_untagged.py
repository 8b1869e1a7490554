"""Notices of changes do not say whose they are."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_reply


@on_reply("notifications name another subscription", breaks="sep-2575-server-tags-subscription-id")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("method", "").endswith("list_changed"):
        meta_of(reply)[SUBSCRIPTION_KEY] = "another one"
    return reply
