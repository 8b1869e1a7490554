"""A subscription is remembered, and nothing ever comes of it."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a resource changes, and no update follows", breaks="resources-subscribe", silent=True)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply
