"""Whichever list changes, all are said to have changed."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

NOTICES = [notice for notice, *_ in LISTS.values()]


@on_reply("a listener for one list hears of all", breaks="SUB-01", scenario="stateless.changes")
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [{**reply, "method": one} for one in NOTICES] if reply.get("method") in NOTICES else [reply]
