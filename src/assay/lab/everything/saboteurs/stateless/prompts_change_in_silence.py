"""The list of prompts changes in silence."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the list of prompts changes, and listeners are not told",
    breaks="sep-2575-server-sends-prompts-list-changed-on-subscription",
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == LISTS["prompts"][0] else reply
