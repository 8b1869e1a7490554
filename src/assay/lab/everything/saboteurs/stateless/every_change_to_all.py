"""Who listens for one list hears of the other."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

PROMPTS = LISTS["prompts"][0]


@on_reply(
    "who listens for prompts hears of tools as well",
    breaks="sep-2575-server-honors-notification-filter",
)
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != PROMPTS:
        return [reply]
    return [{**reply, "method": LISTS["tools"][0]}, reply]
